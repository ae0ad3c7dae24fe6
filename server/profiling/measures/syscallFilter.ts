/** Processors for which a filter can be built, as `process.arch` names them. */
export type FilteredArch = "x64" | "arm64";

/** Numbers of system calls, and the processor's name in `struct seccomp_data` (linux/audit.h). */
interface Abi {
  readonly audit: number;
  readonly socket: number;
  readonly addKey: number;
  readonly requestKey: number;
  readonly keyctl: number;
  /** A bit of numbers of a second ABI of the processor, which is refused whole; 0: there is none. */
  readonly otherAbi: number;
}

export const abis: Readonly<Record<FilteredArch, Abi>> = {
  x64: { audit: 0xc000_003e, socket: 41, addKey: 248, requestKey: 249, keyctl: 250, otherAbi: 0x4000_0000 },
  arm64: { audit: 0xc000_00b7, socket: 198, addKey: 217, requestKey: 218, keyctl: 219, otherAbi: 0 },
};

/** One number on every processor: io_uring_setup, io_uring_enter, io_uring_register. */
const ioUring = [425, 426, 427];

/**
 * Families of sockets that a network namespace confines: unix, IPv4, IPv6, netlink. The others include vsock, which reaches the host of a
 * virtual machine from every namespace.
 */
const confinedFamilies = [1, 2, 10, 16];

const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** linux/bpf_common.h, linux/seccomp.h. */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_BITS = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const REFUSE_WITH = 0x0005_0000;

/** Offsets in `struct seccomp_data`; of an argument, its low half on a little-endian processor. */
const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;

interface Instruction {
  readonly code: number;
  readonly k: number;
  readonly ifTrue?: number;
  readonly ifFalse?: number;
}

const load = (offset: number): Instruction => ({ code: LOAD, k: offset });
const answer = (k: number): Instruction => ({ code: RETURN, k });

/** Ends with an answer where the loaded value is one of these, and goes on behind otherwise. */
const refuseAny = (values: readonly number[], error: number): readonly Instruction[] => [
  ...values.map((k, at) => ({ code: JUMP_IF_EQUAL, k, ifTrue: values.length - 1 - at, ifFalse: at === values.length - 1 ? 1 : 0 })),
  answer(REFUSE_WITH | error),
];

/**
 * The seccomp filter of fenced commands, as classic BPF: keys of the kernel and io_uring are refused as if the kernel had none (`ENOSYS`),
 * sockets that no namespace confines with `EAFNOSUPPORT`. A call by another ABI of the processor ends the process, because its numbers mean
 * other calls.
 *
 * @returns the instructions, eight bytes each.
 */
export function syscallFilter(arch: FilteredArch): Uint8Array {
  const { audit, socket, addKey, requestKey, keyctl, otherAbi } = abis[arch];
  const otherAbiEnds: readonly Instruction[] =
    otherAbi === 0 ? [] : [{ code: JUMP_IF_BITS, k: otherAbi, ifTrue: 0, ifFalse: 1 }, answer(KILL_PROCESS)];
  return encoded([
    load(ARCH),
    { code: JUMP_IF_EQUAL, k: audit, ifTrue: 1, ifFalse: 0 },
    answer(KILL_PROCESS),
    load(NUMBER),
    ...otherAbiEnds,
    ...refuseAny([...ioUring, addKey, requestKey, keyctl], ENOSYS),
    { code: JUMP_IF_EQUAL, k: socket, ifTrue: 1, ifFalse: 0 },
    answer(ALLOW),
    load(FIRST_ARGUMENT),
    ...confinedFamilies.map((k, at) => ({ code: JUMP_IF_EQUAL, k, ifTrue: confinedFamilies.length - at, ifFalse: 0 })),
    answer(REFUSE_WITH | EAFNOSUPPORT),
    answer(ALLOW),
  ]);
}

function encoded(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8 * program.length));
  for (const [at, { code, k, ifTrue = 0, ifFalse = 0 }] of program.entries()) {
    bytes.setUint16(8 * at, code, true);
    bytes.setUint8(8 * at + 2, ifTrue);
    bytes.setUint8(8 * at + 3, ifFalse);
    bytes.setUint32(8 * at + 4, k, true);
  }
  return new Uint8Array(bytes.buffer);
}
