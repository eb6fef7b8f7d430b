// SPDX-License-Identifier: Apache-2.0
// Much inlined C++, to be compiled in many ways.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>
namespace geo {
struct vec { double x, y, z; };
static inline double dot(const vec &a, const vec &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec cross(const vec &a, const vec &b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
double volume(const std::vector<vec> &v) {
	double s = 0;
	for (size_t i = 2; i < v.size(); i++) s += dot(v[i], cross(v[i - 1], v[i - 2]));
	return s;
}
}
static uint64_t sorts(std::mt19937_64 &r, size_t n) {
	std::vector<uint64_t> v(n);
	for (auto &x : v) x = r();
	std::sort(v.begin(), v.end(), [](uint64_t a, uint64_t b) { return (a ^ 0x55) < (b ^ 0x55); });
	return v[n / 2];
}
static uint64_t maps(std::mt19937_64 &r, size_t n) {
	std::map<uint64_t, std::string> m;
	std::unordered_map<std::string, int> u;
	for (size_t i = 0; i < n; i++) m[r() % n] += "x";
	for (auto &p : m) u[p.second]++;
	uint64_t s = 0;
	for (auto &p : u) s += p.second * p.first.size();
	return s;
}
int main(int argc, char **argv) {
	std::mt19937_64 r(1);
	int n = argc > 1 ? std::stoi(argv[1]) : 20;
	uint64_t s = 0; double d = 0;
	std::vector<geo::vec> v(200000);
	for (auto &x : v) x = {double(r() % 100), double(r() % 100), double(r() % 100)};
	for (int i = 0; i < n; i++) { s += sorts(r, 200000); s += maps(r, 50000); for (int k = 0; k < 10; k++) d += geo::volume(v); }
	printf("%lu %f\n", s, d);
}
