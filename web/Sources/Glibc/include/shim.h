// The parts of the C library that the shared targets use; wasi-libc's own headers would include all of WASI.
#pragma once
typedef __SIZE_TYPE__ size_t;
double cos(double), exp(double), exp2(double), log(double), log2(double), log10(double), pow(double, double), sin(double);
float exp2f(float), log2f(float), powf(float, float);
