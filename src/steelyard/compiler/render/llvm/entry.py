"""LLVM text of the built-in function that Python calls with one sample.

It checks the arrays, allocates the results and runs a kernel's loop once. One function serves all
kernels: what differs is in a table, a bytes object that is the first item of the function's `self`
tuple. Memory layouts follow CPython's objects and NumPy's arrays (NumPy C API reference,
"PyArrayObject").
"""

from __future__ import annotations

WORDS = (
    "inputs", "outputs", "loop", "data", "array_type", "float64", "new_array", "scalar_of",
    "gufunc", "otherwise", "not_implemented", "gufunc_call", "otherwise_call", "new_tuple", "out",
    "small", "increase", "decrease", "dimensions", "steps", "operands",
)  # fmt: skip
"""The first words of the table.

`dimensions`, `steps` and `operands` are indices of their first words; an operand has OPERAND words.
"""
MOST = 16  # operands
RANK = 4  # dimensions of an operand, at most
OPERAND = RANK + 2  # number of dimensions, the dimensions, bytes
ITEMS, PAYLOAD = 24, 32  # bytes before the items of a tuple, and of a bytes object
NEEDED, WRITEABLE = 0x101, 0x501  # C-contiguous and aligned; and writeable
DOUBLE = 12  # NumPy's number of float64

_TEXT = """
define ptr @kernel(ptr %self, ptr %args, i64 %nargs, ptr %names) {{
entry:
  %pointers = alloca ptr, i64 {most}
  %made = alloca ptr, i64 {most}
  %items = getelementptr i8, ptr %self, i64 {items}
  %bytes = load ptr, ptr %items
  %table = getelementptr i8, ptr %bytes, i64 {payload}
{words}
  %operand0 = getelementptr i64, ptr %table, i64 %operands
  %right.count = icmp eq i64 %nargs, %inputs
  br i1 %right.count, label %counted, label %last
counted:
  %none = icmp eq ptr %names, null
  br i1 %none, label %input, label %named
named:
  %names.size.p = getelementptr i8, ptr %names, i64 16
  %names.size = load i64, ptr %names.size.p
  %names.first.p = getelementptr i8, ptr %names, i64 {items}
  %one.name = icmp eq i64 %names.size, 1
  br i1 %one.name, label %name, label %other
name:
  %first.name = load ptr, ptr %names.first.p
  %is.out = icmp eq ptr %first.name, %out
  %one.output = icmp eq i64 %outputs, 1
  %given = and i1 %is.out, %one.output
  br i1 %given, label %input, label %other

input:
  %k = phi i64 [ 0, %counted ], [ 0, %name ], [ %k.next, %input.good ]
  %k.p = getelementptr ptr, ptr %args, i64 %k
  %x = load ptr, ptr %k.p
  %x.good = call i1 @fits(ptr %x, ptr %operand0, i64 %k, ptr %array_type, ptr %float64,
                          i32 {needed})
  br i1 %x.good, label %input.good, label %other
input.good:
  %x.data.p = getelementptr i8, ptr %x, i64 16
  %x.data = load ptr, ptr %x.data.p
  %to.k = getelementptr ptr, ptr %pointers, i64 %k
  store ptr %x.data, ptr %to.k
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %inputs
  br i1 %k.more, label %input, label %results
results:
  br i1 %none, label %result, label %into

into:
  %y.p = getelementptr ptr, ptr %args, i64 %nargs
  %y = load ptr, ptr %y.p
  %y.good = call i1 @fits(ptr %y, ptr %operand0, i64 %inputs, ptr %array_type, ptr %float64,
                          i32 {writeable})
  br i1 %y.good, label %apart, label %other
apart:
  %y.data.p = getelementptr i8, ptr %y, i64 16
  %y.data = load i64, ptr %y.data.p
  %y.size = call i64 @size(ptr %operand0, i64 %inputs)
  %y.end = add i64 %y.data, %y.size
  br label %against
against:
  %a = phi i64 [ 0, %apart ], [ %a.next, %against.next ]
  %a.p = getelementptr i64, ptr %pointers, i64 %a
  %a.data = load i64, ptr %a.p
  %a.size = call i64 @size(ptr %operand0, i64 %a)
  %a.end = add i64 %a.data, %a.size
  %before = icmp ule i64 %a.end, %y.data
  %after = icmp ule i64 %y.end, %a.data
  %is.apart = or i1 %before, %after
  br i1 %is.apart, label %against.next, label %other
against.next:
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %inputs
  br i1 %a.more, label %against, label %fill
fill:
  %y.to = getelementptr i64, ptr %pointers, i64 %inputs
  store i64 %y.data, ptr %y.to
  %run.fill = call i1 @run(ptr %pointers, ptr %table, i64 %dimensions, i64 %steps,
                           ptr %loop, ptr %data)
  call void %increase(ptr %y)
  ret ptr %y

result:
  %r = phi i64 [ 0, %results ], [ %r.next, %result.good ]
  %r.operand = add i64 %inputs, %r
  %r.word = mul i64 %r.operand, {operand}
  %r.p = getelementptr i64, ptr %operand0, i64 %r.word
  %r.rank64 = load i64, ptr %r.p
  %r.rank = trunc i64 %r.rank64 to i32
  %r.shape = getelementptr i64, ptr %r.p, i64 1
  %r.array = call ptr %new_array(ptr %array_type, i32 %r.rank, ptr %r.shape, i32 {double},
                                 ptr null, ptr null, i32 0, i32 0, ptr null)
  %r.none = icmp eq ptr %r.array, null
  br i1 %r.none, label %undo, label %result.good
result.good:
  %r.keep = getelementptr ptr, ptr %made, i64 %r
  store ptr %r.array, ptr %r.keep
  %r.data.p = getelementptr i8, ptr %r.array, i64 16
  %r.data = load ptr, ptr %r.data.p
  %r.to = getelementptr ptr, ptr %pointers, i64 %r.operand
  store ptr %r.data, ptr %r.to
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %outputs
  br i1 %r.more, label %result, label %compute
compute:
  %run.new = call i1 @run(ptr %pointers, ptr %table, i64 %dimensions, i64 %steps,
                           ptr %loop, ptr %data)
  %single = icmp eq i64 %outputs, 1
  br i1 %single, label %alone, label %several
alone:
  %only = load ptr, ptr %made
  %only.word = mul i64 %inputs, {operand}
  %only.p = getelementptr i64, ptr %operand0, i64 %only.word
  %only.rank = load i64, ptr %only.p
  %is.scalar = icmp eq i64 %only.rank, 0
  br i1 %is.scalar, label %scalar, label %array
scalar:
  %number = call ptr %scalar_of(ptr %only)
  ret ptr %number
array:
  ret ptr %only
several:
  %tuple = call ptr %new_tuple(i64 %outputs)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %undo, label %item
item:
  %i = phi i64 [ 0, %several ], [ %i.next, %item ]
  %i.from = getelementptr ptr, ptr %made, i64 %i
  %i.array = load ptr, ptr %i.from
  %i.items = getelementptr i8, ptr %tuple, i64 {items}
  %i.to = getelementptr ptr, ptr %i.items, i64 %i
  store ptr %i.array, ptr %i.to
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %outputs
  br i1 %i.more, label %item, label %full
full:
  ret ptr %tuple
undo:
  %made.count = phi i64 [ %r, %result ], [ %outputs, %several ]
  br label %undone
undone:
  %u = phi i64 [ 0, %undo ], [ %u.next, %drop ]
  %u.more = icmp slt i64 %u, %made.count
  br i1 %u.more, label %drop, label %failed
drop:
  %u.p = getelementptr ptr, ptr %made, i64 %u
  %u.array = load ptr, ptr %u.p
  call void %decrease(ptr %u.array)
  %u.next = add i64 %u, 1
  br label %undone
failed:
  ret ptr null

other:
  %o = load ptr, ptr %args
  %o.type.p = getelementptr i8, ptr %o, i64 8
  %o.type = load ptr, ptr %o.type.p
  %o.array = icmp eq ptr %o.type, %array_type
  br i1 %o.array, label %measure, label %last
measure:
  %o.rank.p = getelementptr i8, ptr %o, i64 24
  %o.rank32 = load i32, ptr %o.rank.p
  %o.rank = sext i32 %o.rank32 to i64
  %o.shape.p = getelementptr i8, ptr %o, i64 32
  %o.shape = load ptr, ptr %o.shape.p
  br label %extent
extent:
  %d = phi i64 [ 0, %measure ], [ %d.next, %extent.more ]
  %o.size = phi i64 [ 1, %measure ], [ %o.size.next, %extent.more ]
  %d.more = icmp slt i64 %d, %o.rank
  br i1 %d.more, label %extent.more, label %measured
extent.more:
  %d.p = getelementptr i64, ptr %o.shape, i64 %d
  %d.size = load i64, ptr %d.p
  %o.product = mul i64 %o.size, %d.size
  %o.size.next = call i64 @llvm.umin.i64(i64 %o.product, i64 1048576)
  %d.next = add i64 %d, 1
  br label %extent
measured:
  %is.small = icmp slt i64 %o.size, %small
  br i1 %is.small, label %batch, label %last
batch:
  %by.gufunc = tail call ptr %gufunc_call(ptr %gufunc, ptr %args, i64 %nargs, ptr %names)
  ret ptr %by.gufunc
last:
  %nothing = icmp eq ptr %otherwise, null
  br i1 %nothing, label %refuse, label %resort
resort:
  %by.otherwise = tail call ptr %otherwise_call(ptr %otherwise, ptr %args, i64 %nargs, ptr %names)
  ret ptr %by.otherwise
refuse:
  call void %increase(ptr %not_implemented)
  ret ptr %not_implemented
}}

define internal i1 @fits(ptr %x, ptr %operand0, i64 %k, ptr %array_type, ptr %float64,
                         i32 %wanted) alwaysinline {{
entry:
  %type.p = getelementptr i8, ptr %x, i64 8
  %type = load ptr, ptr %type.p
  %is.array = icmp eq ptr %type, %array_type
  br i1 %is.array, label %array, label %no
array:
  %descr.p = getelementptr i8, ptr %x, i64 56
  %descr = load ptr, ptr %descr.p
  %is.float64 = icmp eq ptr %descr, %float64
  %flags.p = getelementptr i8, ptr %x, i64 64
  %flags = load i32, ptr %flags.p
  %has = and i32 %flags, %wanted
  %has.all = icmp eq i32 %has, %wanted
  %word = mul i64 %k, {operand}
  %operand = getelementptr i64, ptr %operand0, i64 %word
  %rank = load i64, ptr %operand
  %rank.p = getelementptr i8, ptr %x, i64 24
  %x.rank32 = load i32, ptr %rank.p
  %x.rank = sext i32 %x.rank32 to i64
  %same.rank = icmp eq i64 %x.rank, %rank
  %good1 = and i1 %is.float64, %has.all
  %good2 = and i1 %good1, %same.rank
  br i1 %good2, label %shape, label %no
shape:
  %shape.p = getelementptr i8, ptr %x, i64 32
  %x.shape = load ptr, ptr %shape.p
  br label %dimension
dimension:
  %d = phi i64 [ 0, %shape ], [ %d.next, %compare ]
  %more = icmp slt i64 %d, %rank
  br i1 %more, label %compare, label %yes
compare:
  %d.next = add i64 %d, 1
  %mine.p = getelementptr i64, ptr %operand, i64 %d.next
  %mine = load i64, ptr %mine.p
  %theirs.p = getelementptr i64, ptr %x.shape, i64 %d
  %theirs = load i64, ptr %theirs.p
  %same = icmp eq i64 %mine, %theirs
  br i1 %same, label %dimension, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i64 @size(ptr %operand0, i64 %k) alwaysinline {{
  %word = mul i64 %k, {operand}
  %last = add i64 %word, {bytes}
  %p = getelementptr i64, ptr %operand0, i64 %last
  %size = load i64, ptr %p
  ret i64 %size
}}

define internal i1 @run(ptr %pointers, ptr %table, i64 %dimensions, i64 %steps,
                        ptr %loop, ptr %data) alwaysinline {{
  %n = getelementptr i64, ptr %table, i64 %dimensions
  %s = getelementptr i64, ptr %table, i64 %steps
  call void %loop(ptr %pointers, ptr %n, ptr %s, ptr %data)
  ret i1 true
}}

declare i64 @llvm.umin.i64(i64, i64)
"""
_NUMBERS = ("inputs", "outputs", "small", "dimensions", "steps", "operands")


def render() -> str:
    """Return the module of `kernel(self, args, nargs, names)`, a METH_FASTCALL function.

    METH_KEYWORDS is set too. Arrays that are exactly float64, C-contiguous and of the right shape,
    with at most `out=`, are answered here. Other calls go to the gufunc if the first array has
    fewer than `small` numbers, else to `otherwise`, or return NotImplemented.
    """
    words = []
    for index, name in enumerate(WORDS):
        kind = "i64" if name in _NUMBERS else "ptr"
        words += [
            f"  %{name}.w = getelementptr i64, ptr %table, i64 {index}",
            f"  %{name} = load {kind}, ptr %{name}.w",
        ]
    return _TEXT.format(
        words="\n".join(words), most=MOST, items=ITEMS, payload=PAYLOAD, operand=OPERAND,
        bytes=OPERAND - 1, needed=NEEDED,
        writeable=WRITEABLE, double=DOUBLE,
    )  # fmt: skip
