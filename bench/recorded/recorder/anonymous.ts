import { hostname } from "node:os";

/** Ids that an engine makes up. */
const IDS =
  /\b(chatcmpl-tool|chatcmpl|cmpl|resp|msg|modelperm|rs|fc|call|ascii)([-_])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{14,32})\b/g;

const TIMES = /"(created|created_at|completed_at)":(\s?)\d{10}(\.\d+)?/g;

/** A fixed second, 2026-01-01. */
const SECOND = "1767225600";

/** What of this machine is replaced, and by what. */
export interface Places {
  /** Folder of the model, and the folder in which vLLM is installed. */
  readonly model: string;
  readonly program: string;
}

/**
 * A function that replaces ids, times of creation, addresses, process numbers, the host's name and paths in recorded text. An id becomes a
 * counted one of the same length, the same one wherever it occurs.
 */
export function anonymiser({ model, program }: Places): (text: string) => string {
  const ids = new Map<string, string>();
  const counted = (id: string): string => {
    const known = ids.get(id);
    if (known !== undefined) return known;
    const digits = (ids.size + 1).toString(16).padStart(id.replaceAll("-", "").length, "0");
    const dashes = [...id].reduce<readonly [string, number]>(
      ([made, at], letter) => (letter === "-" ? [`${made}-`, at] : [made + digits[at], at + 1]),
      ["", 0],
    )[0];
    ids.set(id, dashes);
    return dashes;
  };
  return (text) =>
    text
      .replaceAll(model, "/models/arith-small")
      .replaceAll(program, "/opt/vllm")
      .replaceAll(hostname(), "host")
      .replace(IDS, (_, kind: string, dash: string, id: string) => `${kind}${dash}${counted(id)}`)
      .replace(TIMES, (_, name: string, space: string) => `"${name}":${space}${SECOND}`)
      .replace(/\bpid=\d+/g, "pid=1")
      .replace(/(tcp:\/\/)[0-9.]+:\d+/g, "$1127.0.0.1:1")
      .replace(/(ipc:\/\/)\S+?(?=['",\s])/g, "$1socket");
}
