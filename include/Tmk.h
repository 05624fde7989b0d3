/* Where programs written for TreadMarks look for it: "Tmk.h". */
#include <hearth/Tmk.h>
