import type { SessionInput } from "./sessionInputs";

/** A piece of a session's compressed input; the pieces' names ascend, so that a shell concatenates them in order. */
export interface InputPart {
  readonly file: string;
  readonly base64: string;
}

/** Size of a part: an object of Kubernetes is limited to 1 MiB, including names. */
const partBytes = 640 * 1024;

/** Inputs cut into pieces. */
export const inputParts = (inputs: readonly SessionInput[]): readonly InputPart[] =>
  inputs.flatMap(({ name, gzip }) =>
    Array.from({ length: Math.max(1, Math.ceil(gzip.length / partBytes)) }, (_, at) => ({
      file: `${name}.jsonl.gz.${`${at}`.padStart(4, "0")}`,
      base64: gzip.subarray(at * partBytes, (at + 1) * partBytes).toString("base64"),
    })),
  );

/** Groups of parts, such that each group's text stays below the limit of one part. */
export function grouped(parts: readonly InputPart[]): readonly (readonly InputPart[])[] {
  const groups: InputPart[][] = [];
  let room = 0;
  for (const part of parts) {
    if (part.base64.length > room) {
      groups.push([]);
      room = Math.ceil(partBytes / 3) * 4;
    }
    groups.at(-1)?.push(part);
    room -= part.base64.length;
  }
  return groups;
}
