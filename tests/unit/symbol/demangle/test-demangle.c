// SPDX-License-Identifier: Apache-2.0
/*
 * The expected texts are those of binutils' c++filt without hashes and parameters; for characters
 * beyond ASCII in constants, Rust's own form. The names come from rustc, g++ and RFC 2603.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "symbol/demangle/demangle.h"

struct pair {
	const char *mangled, *text;
};

// clang-format off
static const struct pair rust[] = {
	{"_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h3c18efa923197600E",
	 "<&T as core::fmt::Debug>::fmt"},
	{"_ZN49_$LT$rs..m..Foo$LT$T$GT$$u20$as$u20$rs..m..Tr$GT$2go17hbac3b14f8f13e251E",
	 "<rs::m::Foo<T> as rs::m::Tr>::go"},
	{"_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h3cacb3bac1a2f3c3E",
	 "<&T as core::fmt::Debug>::fmt"},
	{"_ZN67_$LT$alloc..boxed..Box$LT$T$C$A$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h58924bfca2a5bf2bE",
	 "<alloc::boxed::Box<T,A> as core::fmt::Debug>::fmt"},
	{"_ZN44_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt17h4553bce19bad4175E",
	 "<&T as core::fmt::Display>::fmt"},
	{"_ZN4core3ptr42drop_in_place$LT$std..io..error..Error$GT$17he82c29c8142d77a6E",
	 "core::ptr::drop_in_place<std::io::error::Error>"},
	{"_ZN2rs3neg17h90bbc356f7d4fc09E",
	 "rs::neg"},
	{"_ZN2rs3neg17h252eab7c7b6751d5E",
	 "rs::neg"},
	{"_ZN5alloc4sync16Arc$LT$T$C$A$GT$9drop_slow17h701ee899c7cdd896E",
	 "alloc::sync::Arc<T,A>::drop_slow"},
	{"_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h812c3d357f87acfaE",
	 "<&T as core::fmt::Debug>::fmt"},
	{"_ZN4core3ptr60drop_in_place$LT$std..thread..spawnhook..ChildSpawnHooks$GT$17h4c589b8a7f5e3be1E",
	 "core::ptr::drop_in_place<std::thread::spawnhook::ChildSpawnHooks>"},
	{"_ZN4core5array69_$LT$impl$u20$core..fmt..Debug$u20$for$u20$$u5b$T$u3b$$u20$N$u5d$$GT$3fmt17h0e9b9257e7f7ef7cE",
	 "core::array::<impl core::fmt::Debug for [T; N]>::fmt"},
	{"_ZN2rs3gen17h5a7726dae6394468E",
	 "rs::gen"},
	{"_ZN5alloc7raw_vec20RawVecInner$LT$A$GT$11finish_grow17h1da5c3929bbd3b48E",
	 "alloc::raw_vec::RawVecInner<A>::finish_grow"},
	{"_RINvCsbFYJioi4cCO_2rs3genAaj4_EB2_",
	 "rs::gen::<[i8; 4]>"},
	{"_RINvCsbFYJioi4cCO_2rs3genINtNtCsgEmfK2I1SDS_4core6option6OptionINtNtCslNYArtu3iFV_5alloc5boxed3BoxiEEEB2_",
	 "rs::gen::<core::option::Option<alloc::boxed::Box<isize>>>"},
	{"_RINvCsbFYJioi4cCO_2rs3genRStEB2_",
	 "rs::gen::<&[u16]>"},
	{"_RINvCsbFYJioi4cCO_2rs3genReEB2_",
	 "rs::gen::<&str>"},
	{"_RINvCsbFYJioi4cCO_2rs3genTlfcEEB2_",
	 "rs::gen::<(i32, f32, char)>"},
	{"_RINvCsbFYJioi4cCO_2rs3genToEEB2_",
	 "rs::gen::<(u128,)>"},
	{"_RINvCsbFYJioi4cCO_2rs3genuEB2_",
	 "rs::gen::<()>"},
	{"_RINvCsbFYJioi4cCO_2rs3negKn5_EB2_",
	 "rs::neg::<5>"},
	{"_RINvCsbFYJioi4cCO_2rs3negKnn80000000000000000000000000000000_EB2_",
	 "rs::neg::<-0x80000000000000000000000000000000>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrFG_hRL0_eEbEB2_",
	 "rs::ptr::<for<'a> fn(u8, &'a str) -> bool>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrFKClEuEB2_",
	 "rs::ptr::<extern \"C\" fn(i32)>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrFUK6systemEuEB2_",
	 "rs::ptr::<unsafe extern \"system\" fn()>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrINtNtCsgEmfK2I1SDS_4core6option6OptionFEzEEB2_",
	 "rs::ptr::<core::option::Option<fn() -> !>>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG0_INtNtNtCsgEmfK2I1SDS_4core3ops8function2FnTRL1_hRL0_hEEp6OutputuEL_EEB2_",
	 "rs::ptr::<alloc::boxed::Box<dyn for<'a, 'b> core::ops::function::Fn<(&'a u8, &'b u8), Output = ()>>>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrOxEB2_",
	 "rs::ptr::<*mut i64>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrPhEB2_",
	 "rs::ptr::<*const u8>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrRDNtNtCsgEmfK2I1SDS_4core3any3AnyEL_EB2_",
	 "rs::ptr::<&dyn core::any::Any>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrRDNtNtCsgEmfK2I1SDS_4core5error5ErrorNtNtBt_6marker4SyncNtB10_4SendEL_EB2_",
	 "rs::ptr::<&dyn core::error::Error + core::marker::Sync + core::marker::Send>"},
	{"_RINvCsbFYJioi4cCO_2rs3ptrRDNtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator8Iteratorp4ItemhEL_EB2_",
	 "rs::ptr::<&dyn core::iter::traits::iterator::Iterator<Item = u8>>"},
	{"_RINvCsbFYJioi4cCO_2rs4takeNCNvB2_4mains2_0EB2_",
	 "rs::take::<rs::main::{closure#4}>"},
	{"_RINvCsbFYJioi4cCO_2rs4takeNCNvB2_4mains3_0EB2_",
	 "rs::take::<rs::main::{closure#5}>"},
	{"_RINvMs_NtCsbFYJioi4cCO_2rs1mINtB5_3FooAhj3_E3arrKj7_Kb1_Kc3bb_EB7_",
	 "<rs::m::Foo<[u8; 3]>>::arr::<7, true, 'λ'>"},
	{"_RNvMNtNtCsgEmfK2I1SDS_4core3ptr9const_ptrPu13is_aligned_toCsbFYJioi4cCO_2rs",
	 "<*const ()>::is_aligned_to"},
	{"_RNvNvMNtNtCsgEmfK2I1SDS_4core3ptr9alignmentNtB4_9Alignment13new_unchecked18precondition_checkCsbFYJioi4cCO_2rs",
	 "<core::ptr::alignment::Alignment>::new_unchecked::precondition_check"},
	{"_RNvNvMNtNtCsgEmfK2I1SDS_4core3ptr9const_ptrPp20offset_from_unsigned18precondition_checkCsbFYJioi4cCO_2rs",
	 "<*const _>::offset_from_unsigned::precondition_check"},
	{"_RNvNvMs1_NtNtCsgEmfK2I1SDS_4core3ptr8non_nullINtB7_7NonNullpE13new_unchecked18precondition_checkCsbFYJioi4cCO_2rs",
	 "<core::ptr::non_null::NonNull<_>>::new_unchecked::precondition_check"},
	{"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	 "utf8_idents::საჭმელად_გემრიელი_სადილი"},
	{"_RMC0INtC8arrayvec8ArrayVechKj7b_E",
	 "<arrayvec::ArrayVec<u8, 123>>"},
	{"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E",
	 "<const_generic::Char<'\\n'>>"},
	{"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E",
	 "<const_generic::Char<'∂'>>"},
	{"_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
	 "<const_generic::Foo<_>>::foo::FOO"},
	{"_RNvC6_123foo3bar",
	 "123foo::bar"},
	{"_RC3foo.llvm.9D1C9369",
	 "foo"},
	{"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
	 "cc::spawn::{closure#0}::{closure#0}"},
	{"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
	 "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::{closure#1}>::{closure#0}"},
};

static const struct pair cxx[] = {
	{"_ZN5clang13ASTStmtReader19VisitAttributedStmtEPNS_14AttributedStmtE",
	 "clang::ASTStmtReader::VisitAttributedStmt"},
	{"_ZN4llvm20createObjCARCOptPassEv",
	 "llvm::createObjCARCOptPass"},
	{"_ZN4llvm15ScalarEvolution34hasLoopInvariantBackedgeTakenCountEPKNS_4LoopE",
	 "llvm::ScalarEvolution::hasLoopInvariantBackedgeTakenCount"},
	{"_ZNK4llvm18BlockFrequencyInfo11verifyMatchERS0_",
	 "llvm::BlockFrequencyInfo::verifyMatch"},
	{"_ZTIN5clang6driver16BackendJobActionE",
	 "typeinfo for clang::driver::BackendJobAction"},
	{"_ZTVN4llvm14MLInlineAdviceE",
	 "vtable for llvm::MLInlineAdvice"},
	{"_ZNSt13basic_istreamIwSt11char_traitsIwEErsEPSt15basic_streambufIwS1_E",
	 "std::basic_istream<wchar_t, std::char_traits<wchar_t> >::operator>>"},
	{"_ZNK5clang4ento4SVal12dumpToStreamERN4llvm11raw_ostreamE",
	 "clang::ento::SVal::dumpToStream"},
	{"_ZN4llvm12MachineInstr18setHeapAllocMarkerERNS_15MachineFunctionEPNS_6MDNodeE",
	 "llvm::MachineInstr::setHeapAllocMarker"},
	{"_ZNK5clang10CFGElement12dumpToStreamERN4llvm11raw_ostreamE",
	 "clang::CFGElement::dumpToStream"},
	{"_ZN5clang4Sema29CodeCompleteObjCForCollectionEPNS_5ScopeENS_9OpaquePtrINS_12DeclGroupRefEEE",
	 "clang::Sema::CodeCompleteObjCForCollection"},
	{"_ZN5clang6interp7Program24getOrCreateNativePointerEPKv",
	 "clang::interp::Program::getOrCreateNativePointer"},
	{"_Z3fooi",
	 "foo"},
	{"_ZNK2ns1S4workIlEET_S2_i",
	 "ns::S::work<long>"},
	{"_ZZ4mainENKUliE_clEi",
	 "main::{lambda(int)#1}::operator()"},
	{"_ZN12_GLOBAL__N_13bazEv",
	 "(anonymous namespace)::baz"},
	{"_ZlsRSoRK1A",
	 "operator<<"},
	{"_ZN1AnwEm",
	 "A::operator new"},
	{"_ZN1AdaEPv",
	 "A::operator delete[]"},
	{"_ZNK1AcvPKcEv",
	 "A::operator char const*"},
	{"_ZN1AC2ERKS_",
	 "A::A"},
	{"_ZN1AD0Ev",
	 "A::~A"},
	{"_ZTV1A",
	 "vtable for A"},
	{"_ZThn16_N1A1fEi",
	 "non-virtual thunk to A::f(int)"},
	{"_Z1fIiEPFvcET_",
	 "f<int>"},
	{"_ZN1AcvT_IiEEv",
	 "A::operator int<int>"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi",
	 "std::vector<int, std::allocator<int> >::push_back"},
	{"_ZNKSt8functionIFvvEEclEv",
	 "std::function<void ()>::operator()"},
	{"_ZZNK1A1fEvENKUlT_E_clIiEEDaS0_",
	 "A::f() const::{lambda(auto:1)#1}::operator()<int>"},
	{"_ZN1AssERKS_",
	 "A::operator<=>"},
	{"_ZN1AgtERKS_",
	 "A::operator>"},
	{"_ZNK1AptEv",
	 "A::operator->"},
	{"_ZrsIiERSiS0_R1BIT_E",
	 "operator>><int>"},
	{"_Z3fooi.constprop.0",
	 "foo"},
	{"_Z3barv.cold",
	 "bar"},
	{"_ZN9__gnu_cxx13new_allocatorIcE10deallocateEPcm",
	 "__gnu_cxx::new_allocator<char>::deallocate"},
};
// clang-format on

static void check(const struct pair *table, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		char *text = demangle_name(table[i].mangled);

		if (!text || strcmp(text, table[i].text))
			fail_msg("%s\n  expected: %s\n  found:    %s", table[i].mangled,
				 table[i].text, text ? text : "(nothing)");
		free(text);
	}
}

static void test_rust(void **state)
{
	check(rust, sizeof(rust) / sizeof(*rust));
}

static void test_cxx(void **state)
{
	check(cxx, sizeof(cxx) / sizeof(*cxx));
}

/* What is shown, and the name alone that it stands for. */
static void test_shown(void **state)
{
	static const char *const table[][3] = {
		{"_ZN6locate4overEi", "locate::over(int)", "locate::over"},
		{"_ZN6locate4overEiPKc", "locate::over(int, char const*)", "locate::over"},
		{"_ZNK1S1mEi", "S::m(int) const", "S::m"},
		{"_Z3runi.cold", "run(int) [clone .cold]", "run"},
		{"_Z3runi.isra.0.cold", "run(int) [clone .isra.0] [clone .cold]", "run"},
		{"_ZN2ns4calcIdEET_S1_", "double ns::calc<double>(double)", "ns::calc<double>"},
		{"_ZN3FooclEi", "Foo::operator()(int)", "Foo::operator()"},
		{"_ZTV3Foo", "vtable for Foo", NULL},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", NULL},
		{"_RNvC3foo3bar", "foo::bar", NULL},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char *text = demangle_text(table[i][0]), *name;

		assert_non_null(text);
		assert_string_equal(text, table[i][1]);
		name = demangle_reduce(text);
		if (table[i][2])
			assert_string_equal(name, table[i][2]);
		else
			assert_null(name);
		free(name);
		free(text);
	}
	assert_null(demangle_text("main.cold"));
}

static void test_not_mangled(void **state)
{
	static const char *const names[] = {
		"",
		"_",
		"_Z",
		"_R",
		"_RN",
		"__Z",
		"main",
		"_start",
		"_ZN",
		"_ZN3fooE17h",
		"_RNvC",
		"R",
		"_R0NvC3foo3bar",
		"_RNvC3foo99bar",
		"_RBB_",
		"_RB_",
		"_RNvB_3foo",
		"_ZN4core17hzzE",
		"_RC3foo$",
		"_RMC0Tu",
		"_ZN0E",
		"_RNvC18446744073709551615_3foo",
		"_RC0",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *text = demangle_name(names[i]);

		assert_null(demangle_text(names[i]));
		if (text)
			fail_msg("%s became %s", names[i], text);
	}
}

/* Each of @depth levels names the one before twice: 2^depth in print. */
static char *cxx_bomb(int depth)
{
	char *name = calloc(1, (size_t)depth * 40 + 64), *p = name;
	int i;

	p += sprintf(p, "_Z1fSt4pairIiiE");
	for (i = 0; i < depth; i++) {
		char ref[8];

		/* candidates: std::pair, then each pair<> in turn */
		snprintf(ref, sizeof(ref), i ? "S%c_" : "S0_", i < 10 ? '0' + i : 'A' + i - 10);
		p += sprintf(p, "S_I%s%sE", ref, ref);
	}
	return name;
}

static void test_bombs(void **state)
{
	char *bomb = cxx_bomb(34), *text;
	clock_t t = clock();
	char rust_bomb[4096], *p = rust_bomb;
	size_t start, prev;
	int i;

	text = demangle_name(bomb);
	assert_null(text);
	free(bomb);
	/* ((((u8, u8), (…)), …)): tuples of back references to the tuple before */
	p += sprintf(p, "_RINvC1a1f");
	prev = (size_t)(p - rust_bomb) - 2;
	p += sprintf(p, "ThhE");
	for (i = 0; i < 60; i++) {
		static const char digits[] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char ref[8];

		start = (size_t)(p - rust_bomb) - 2;
		if (prev - 1 < 62)
			snprintf(ref, sizeof(ref), "B%c_", digits[prev - 1]);
		else
			snprintf(ref, sizeof(ref), "B%c%c_", digits[(prev - 1) / 62],
				 digits[(prev - 1) % 62]);
		p += sprintf(p, "T%s%sE", ref, ref);
		prev = start;
	}
	sprintf(p, "E");
	assert_null(demangle_name(rust_bomb));
	assert_true(clock() - t < 5 * CLOCKS_PER_SEC);
}

/* Nesting far beyond any program's must not exhaust the stack. */
static void test_deep(void **state)
{
	size_t n = 60000;
	char *name = malloc(n + 16);

	memset(name, 'R', n);
	memcpy(name, "_RINvC1a1f", 10);
	strcpy(name + n, "uE");
	assert_null(demangle_name(name));
	memset(name, 'P', n);
	memcpy(name, "_Z1f", 4);
	strcpy(name + n, "i");
	free(demangle_name(name));
	free(name);
}

/* Whatever the bytes, an answer comes; the sanitizers watch. */
static void test_random_changes(void **state)
{
	unsigned int seed = 1;
	char name[512];
	size_t i, k, n;

	for (i = 0; i < 40000; i++) {
		const struct pair *from = i % 3 ? &rust[i % (sizeof(rust) / sizeof(*rust))]
						: &cxx[i % (sizeof(cxx) / sizeof(*cxx))];

		n = strlen(from->mangled);
		if (n >= sizeof(name))
			continue;
		memcpy(name, from->mangled, n + 1);
		for (k = 0; k < 1 + i % 3; k++) {
			seed = seed * 1103515245 + 12345;
			name[2 + (seed >> 8) % (n - 2)] =
				"0123456789_abcdefhijlmnopstuvxyzABCDEFGIKLMNOPQRSTUXY"[(seed >>
											 20) %
											52];
		}
		if (i % 5 == 0)
			name[2 + (seed >> 9) % (n - 2)] = 0;
		free(demangle_name(name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rust),	       cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_shown),	       cmocka_unit_test(test_not_mangled),
		cmocka_unit_test(test_bombs),	       cmocka_unit_test(test_deep),
		cmocka_unit_test(test_random_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
