// What the shared targets take of the C library; wasi-libc has it, but its own headers would bring the whole of WASI.
#pragma once
typedef __SIZE_TYPE__ size_t;
double cos(double), exp(double), exp2(double), log(double), log2(double), log10(double), pow(double, double), sin(double);
float exp2f(float), log2f(float), powf(float, float);
