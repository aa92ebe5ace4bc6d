//! Instructions: 8 bytes each.

/// Operations. R(x) is a register, K(x) a constant, U(x) an upvalue; `d` is the 32-bit operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    /// R(a) = R(b)
    Move,
    /// R(a) = K(d)
    LoadK,
    /// R(a) = bool b; skip the next instruction if c
    LoadBool,
    /// R(a..=b) = nil
    LoadNil,
    /// R(a) = U(b)
    GetUpval,
    /// U(b) = R(a)
    SetUpval,
    /// R(a) = globals[K(d)]
    GetGlobal,
    /// globals[K(d)] = R(a)
    SetGlobal,
    /// R(a) = R(b)[R(c)]
    GetTable,
    /// R(a) = R(b)[K(d)], an interned string
    GetField,
    /// R(a) = R(b)[K(d)], any constant
    GetTableK,
    /// R(a)[R(b)] = R(c)
    SetTable,
    /// R(a)[R(b)] = K(d)
    SetTableRK,
    /// R(a)[K(d)] = R(c)
    SetField,
    /// R(a)[K(d >> 16)] = K(d & 0xFFFF)
    SetFieldK,
    /// R(a) = {} with sizes b (array, as a floating-point byte) and c (hash)
    NewTable,
    /// R(a+1) = R(b); R(a) = R(b)[K(d)]
    SelfK,
    /// R(a) = R(b) op R(c)
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    /// R(a) = R(b) op K(d)
    AddRK,
    SubRK,
    MulRK,
    DivRK,
    ModRK,
    PowRK,
    /// R(a) = K(d) op R(c)
    AddKR,
    SubKR,
    MulKR,
    DivKR,
    ModKR,
    PowKR,
    /// R(a) = -R(b)
    Unm,
    /// R(a) = not R(b)
    Not,
    /// R(a) = #R(b)
    Len,
    /// R(a) = R(b) .. … .. R(c)
    Concat,
    /// pc += d
    Jmp,
    /// if (R(a) == R(b)) == c then pc += d
    Eq,
    /// if (R(a) == K(b)) == c then pc += d
    EqK,
    /// if (R(a) < R(b)) == c then pc += d
    Lt,
    LtRK,
    LtKR,
    Le,
    LeRK,
    LeKR,
    /// if truth(R(a)) == c then pc += d
    Test,
    /// if truth(R(b)) == c then { R(a) = R(b); pc += d }
    TestSet,
    /// R(a), … = R(a)(R(a+1), …) with b - 1 arguments and c - 1 results; d - 1 is the call site
    Call,
    /// return R(a)(R(a+1), …)
    TailCall,
    /// return R(a), … (b - 1 values)
    Return,
    /// loop of a numeric for over R(a..a+3)
    ForLoop,
    /// the same where the step is 1
    ForLoop1,
    ForPrep,
    /// R(a+3), … = R(a)(R(a+1), R(a+2)); if R(a+3) ~= nil then R(a+2) = R(a+3) else skip the next instruction
    TForLoop,
    /// R(a)[d + i] = R(a+i) for 1 ≤ i ≤ b (0 = up to top)
    SetList,
    /// close the upvalues of R(a) and above
    Close,
    /// R(a) = closure of prototype d
    Closure,
    /// R(a), … = ... (b - 1 values)
    Vararg,
}

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instr {
    pub(crate) op: Op,
    pub(crate) a: u8,
    pub(crate) b: u8,
    pub(crate) c: u8,
    pub(crate) d: u32,
}

impl Instr {
    pub(crate) fn abc(op: Op, a: u8, b: u8, c: u8) -> Instr {
        Instr { op, a, b, c, d: 0 }
    }

    pub(crate) fn ad(op: Op, a: u8, d: u32) -> Instr {
        Instr { op, a, b: 0, c: 0, d }
    }

    /// `d` as a jump distance.
    #[inline]
    pub(crate) fn jump(self) -> i32 {
        self.d as i32
    }

    /// True for instructions that may continue at `pc + d`.
    pub(crate) fn is_jump(self) -> bool {
        matches!(
            self.op,
            Op::Jmp
                | Op::Eq
                | Op::EqK
                | Op::Lt
                | Op::LtRK
                | Op::LtKR
                | Op::Le
                | Op::LeRK
                | Op::LeKR
                | Op::Test
                | Op::TestSet
                | Op::ForLoop
                | Op::ForLoop1
                | Op::ForPrep
        )
    }
}
