// The entry point; see driver.cc.

#include "cli/driver.h"

int main(int argc, char** argv) { return flowtap::drive(argc, argv); }
