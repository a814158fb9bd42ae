#pragma once
// The index of an element of a vector, as a type of its own: those of two vectors are not mixed up.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flowtap {

template <typename Tag>
class Id {
 public:
  constexpr Id() = default;  // of no element
  constexpr explicit Id(size_t index) : index_(static_cast<int32_t>(index)) {}
  constexpr bool is_set() const { return index_ >= 0; }
  constexpr size_t index() const { return static_cast<size_t>(index_); }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  int32_t index_ = -1;
};

// A vector whose elements only its own ids reach.
template <typename I, typename T>
class IdVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  T& operator[](I id) { return std::vector<T>::operator[](id.index()); }
  const T& operator[](I id) const { return std::vector<T>::operator[](id.index()); }
  I add(T element) {
    this->push_back(std::move(element));
    return I(this->size() - 1);
  }
};

}  // namespace flowtap
