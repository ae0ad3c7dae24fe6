import { abis, type FilteredArch, syscallFilter } from "./syscallFilter";

/**
 * A program of a few instructions that puts itself behind the seccomp filter and becomes the command of its arguments:
 *
 * ```c
 * keyctl(KEYCTL_JOIN_SESSION_KEYRING, NULL);
 * if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0) execve(argv[1], argv + 1, environ);
 * _exit(126);
 * ```
 *
 * It is machine code because no program that every Linux has can load a filter, and Node cannot call `prctl`. A session keyring that
 * could not be replaced, as in a container that refuses `keyctl`, stays out of reach by the filter.
 *
 * @returns a static ELF executable, or null for a processor it is not written for.
 */
export function filterLoader(arch: string): Uint8Array | null {
  return isFiltered(arch) ? executable(arch) : null;
}

const isFiltered = (arch: string): arch is FilteredArch => arch in abis;

/** Where the file lies in memory, whole; `vm.mmap_min_addr` is below on every system. */
const BASE = 0x40_0000;
const ELF_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const CODE_AT = ELF_HEADER_BYTES + PROGRAM_HEADER_BYTES;

const machines: Readonly<Record<FilteredArch, number>> = { x64: 62, arm64: 183 };
const code: Readonly<Record<FilteredArch, (filter: number) => Uint8Array>> = { x64: x64Code, arm64: arm64Code };

/** `struct sock_fprog` and the instructions follow the code. */
function executable(arch: FilteredArch): Uint8Array {
  const filter = syscallFilter(arch);
  const programAt = CODE_AT + 8 * Math.ceil(code[arch](0).length / 8);
  const filterAt = programAt + 16;
  const file = new Uint8Array(filterAt + filter.length);
  const view = new DataView(file.buffer);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  view.setUint16(16, 2, true);
  view.setUint16(18, machines[arch], true);
  view.setUint32(20, 1, true);
  view.setBigUint64(24, BigInt(BASE + CODE_AT), true);
  view.setBigUint64(32, BigInt(ELF_HEADER_BYTES), true);
  view.setUint16(52, ELF_HEADER_BYTES, true);
  view.setUint16(54, PROGRAM_HEADER_BYTES, true);
  view.setUint16(56, 1, true);
  const header = ELF_HEADER_BYTES;
  view.setUint32(header, 1, true);
  // Read and execute.
  view.setUint32(header + 4, 5, true);
  view.setBigUint64(header + 16, BigInt(BASE), true);
  view.setBigUint64(header + 24, BigInt(BASE), true);
  view.setBigUint64(header + 32, BigInt(file.length), true);
  view.setBigUint64(header + 40, BigInt(file.length), true);
  view.setBigUint64(header + 48, 0x1_0000n, true);
  file.set(code[arch](BASE + programAt), CODE_AT);
  view.setUint16(programAt, filter.length / 8, true);
  view.setBigUint64(programAt + 8, BigInt(BASE + filterAt), true);
  file.set(filter, filterAt);
  return file;
}

function x64Code(filter: number): Uint8Array {
  const word = (value: number): readonly number[] => [value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255];
  const syscall = [0x0f, 0x05];
  return Uint8Array.from([
    // mov rbx, rsp
    ...[0x48, 0x89, 0xe3],
    // mov eax, keyctl; mov edi, 1; xor esi, esi
    ...[0xb8, ...word(abis.x64.keyctl), 0xbf, ...word(1), 0x31, 0xf6, ...syscall],
    // mov eax, prctl; mov edi, 22; mov esi, 2; mov edx, filter; xor r10d, r10d; xor r8d, r8d
    ...[0xb8, ...word(157), 0xbf, ...word(22), 0xbe, ...word(2), 0xba, ...word(filter), 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0, ...syscall],
    // test eax, eax; jnz to _exit
    ...[0x85, 0xc0, 0x75, 23],
    // mov rax, [rbx]; mov rdi, [rbx+16]; lea rsi, [rbx+16]; lea rdx, [rbx+rax*8+16]; mov eax, execve
    ...[0x48, 0x8b, 0x03, 0x48, 0x8b, 0x7b, 0x10, 0x48, 0x8d, 0x73, 0x10, 0x48, 0x8d, 0x54, 0xc3, 0x10, 0xb8, ...word(59), ...syscall],
    // mov edi, 126; mov eax, exit
    ...[0xbf, ...word(126), 0xb8, ...word(60), ...syscall],
  ]);
}

function arm64Code(filter: number): Uint8Array {
  const set = (register: number, value: number): number => 0xd280_0000 | (value << 5) | register;
  const setHigh = (register: number, value: number): number => 0xf2a0_0000 | (value << 5) | register;
  const syscall = 0xd400_0001;
  const words = [
    // mov x19, sp
    0x9100_03f3,
    ...[set(8, abis.arm64.keyctl), set(0, 1), set(1, 0), syscall],
    ...[set(8, 167), set(0, 22), set(1, 2), set(2, filter & 0xffff), setHigh(2, filter >> 16), set(3, 0), set(4, 0), syscall],
    // cbnz x0 to _exit; ldr x2, [x19]; ldr x0, [x19, 16]; add x1, x19, 16; add x2, x19, x2, lsl 3; add x2, x2, 16
    ...[0xb500_0000 | (8 << 5), 0xf940_0262, 0xf940_0a60, 0x9100_4261, 0x8b02_0e62, 0x9100_4042],
    ...[set(8, 221), syscall],
    ...[set(0, 126), set(8, 93), syscall],
  ];
  return new Uint8Array(Uint32Array.from(words).buffer);
}
