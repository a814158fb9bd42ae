// The entry point; see driver.cc.

#include "cli/driver.h"
#include "cli/guard.h"

int main(int argc, char** argv) {
  return flowtap::guarded([&] { return flowtap::drive(argc, argv); });
}
