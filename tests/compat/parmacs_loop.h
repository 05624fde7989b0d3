struct global {
    LOCKDEC(idlock)
    BARDEC(all)
    long id, n;
    double a[];
};

extern struct global *gl;
extern long n, P;

void multiply(long me);
