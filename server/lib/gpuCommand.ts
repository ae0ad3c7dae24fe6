import { commentLine, shellQuoted, shellWords } from "@/solver/wording/shellText";

/** The GPUs that an engine may use. Indices are nvidia-smi's; CUDA's own begin with the fastest GPU. */
export const gpuVariables = (gpus: readonly number[]) => ({ CUDA_DEVICE_ORDER: "PCI_BUS_ID", CUDA_VISIBLE_DEVICES: gpus.join(",") });

/** A command on some GPUs of a host, for a POSIX shell. @throws RangeError for an argument that no command line can hold. */
export function shellLine(gpus: readonly number[], command: readonly string[]): string {
  const variables = Object.entries(gpuVariables(gpus)).map(([name, value]) => `${name}=${shellQuoted(value)}`);
  return [...variables, shellWords(command)].join(" ");
}

/** Variables that commands need in addition to the usual ones: only their names, since some are keys. */
export const variablesNote = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [commentLine(`with ${names.join(", ")} in its environment`)];
