// Classes that exist only in the debug information: cases read them through uprobes.

#include <cstdint>

// The compiler must not leave out what only a probe reads.
static void use(const void* pointer) { asm volatile("" : : "r"(pointer) : "memory"); }

namespace zoo {

class Animal {
 public:
  explicit Animal(int legs) : legs_(legs) {}
  virtual ~Animal() = default;
  virtual int speak(int volume);
  static int count;

 protected:
  int legs_;
  int16_t age_ = 3;
};

struct Tagged {
  uint64_t tag = 0xabcdef;
  int16_t age_ = 12;
};

class Dog : public Animal, public Tagged {
 public:
  Dog() : Animal(4) {}
  int speak(int volume) override;
  const char* sound() const { return sound_; }

 private:
  const char* sound_ = "woof";
  int age_ = 99;
};

int Animal::count = 1;

__attribute__((noinline)) int Animal::speak(int volume) {
  asm volatile("");
  return volume + legs_;
}

__attribute__((noinline)) int Dog::speak(int volume) {
  asm volatile("");
  return volume + *sound_ + age_;
}

}  // namespace zoo

template <typename T>
struct Box {
  T content;
  T* self;
};

__attribute__((noinline)) long open_box(const Box<int32_t>& box) {
  asm volatile("");
  return box.content;
}

int main() {
  zoo::Dog dog;
  Box<int32_t> box{41, nullptr};
  box.self = &box.content;
  // Probes cannot wait for a page that is not in memory yet.
  volatile char touched = *const_cast<const volatile char*>(dog.sound());
  (void)touched;
  use(&box);
  use(&dog);
  int total = dog.speak(1) + dog.zoo::Animal::speak(2);
  return total + open_box(box) > 0 ? 0 : 1;
}
