// Guards around the whole program. Entry point: guarded().
//
// The parser and the stages behind it recurse, and limit how deeply (lang/parser_class.h). That
// limit is for a stack of 8 MB; `ulimit -s` may give less. So everything runs on a stack of our
// own, by makecontext(3): in the same thread, since signals, capabilities and the parent of -c's
// process belong to a thread.

#include "cli/guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/check.h"

namespace flowtap {
namespace {

constexpr size_t kStackSize = 8 << 20;
constexpr size_t kGuardSize = 64 << 10;  // below it, never touched

// No allocation: there may be no memory.
void say(std::string_view text) {
  ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
}

int say_out_of_memory() {
  say("error: out of memory\n");
  return kExitMemory;
}

int say_bug(std::string_view what) {
  say("flowtap: internal error: ");
  say(what);
  say("\nplease report this with the script that caused it\n");
  return kExitBug;
}

// The exception that is being handled, as a message and an exit code.
int describe_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return say_out_of_memory();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::not_enough_memory) return say_out_of_memory();
    return say_bug(error.what());
  } catch (const std::exception& error) {
    return say_bug(error.what());
  } catch (...) {
    return say_bug("an exception of unknown type");
  }
}

// For exceptions that nobody can catch: in another thread, or while something is cleaned up.
[[noreturn]] void end_at_once() {
  if (!std::current_exception()) ::_exit(say_bug("terminated"));
  ::_exit(describe_exception());
}

int caught(const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    return describe_exception();
  }
}

struct Call {
  const std::function<int()>& work;
  int code = kExitBug;
};

// makecontext(3) passes numbers of 32 bits.
void enter(unsigned high, unsigned low) {
  Call* call = reinterpret_cast<Call*>(uintptr_t{high} << 32 | low);
  call->code = caught(call->work);
}

int on_own_stack(const std::function<int()>& work) {
  void* memory = ::mmap(nullptr, kGuardSize + kStackSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return say_out_of_memory();
  ::mprotect(memory, kGuardSize, PROT_NONE);
  Call call{work};
  ucontext_t before, inside;
  ::getcontext(&inside);
  inside.uc_stack.ss_sp = static_cast<char*>(memory) + kGuardSize;
  inside.uc_stack.ss_size = kStackSize;
  inside.uc_link = &before;
  uintptr_t address = reinterpret_cast<uintptr_t>(&call);
  ::makecontext(&inside, reinterpret_cast<void (*)()>(&enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  ::swapcontext(&before, &inside);
  return call.code;  // the memory stays: exit handlers do not need it back
}

// A write that fails is reported where it is made. A handler and not SIG_IGN, which the commands of
// -c and system() would inherit.
void survive(int signal) {
  struct sigaction action = {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

int guarded(const std::function<int()>& work) {
  std::set_terminate(&end_at_once);
  survive(SIGPIPE);
  survive(SIGXFSZ);
  return on_own_stack(work);
}

}  // namespace flowtap
