/* Where programs written for JIAJIA and Mocha look for it: "jia.h". */
#include <hearth/jia.h>
