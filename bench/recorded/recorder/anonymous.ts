import { homedir, hostname } from "node:os";
import type { RecordedExchange } from "@/server/engines/testing/recordedEngine";

/** Ids that an engine makes up. */
const IDS =
  /\b(chatcmpl-tool|chatcmpl|cmpl|resp|msg|modelperm|rs|fc|call|ascii)([-_])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{14,32}|[0-9A-Za-z]{32})\b/g;

const TIMES = /"(created|created_at|completed_at)":(\s?)\d{10}(\.\d+)?/g;

/** Where this machine keeps Python's own library, which stacks name; that of the virtual environment was replaced before. */
const PYTHON_HOMES = /(?<![\w./+-])(?!\/opt\/vllm\/)(?:\/[\w.+-]+)+(?=\/lib\/python3\.\d+\/)/g;

/** A fixed second, 2026-01-01. */
const SECOND = "1767225600";

/** Folders of this machine that recorded text names. */
export interface LocalFolders {
  /** Of the model, and of the virtual environment with vLLM. */
  readonly model: string;
  readonly program: string;
}

/**
 * A function that replaces ids, times of creation, addresses, process numbers, the host's name and paths in recorded text. An id becomes a
 * counted one of the same length, the same one wherever it occurs.
 */
export function anonymiser({ model, program }: LocalFolders): (text: string) => string {
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
      .replace(PYTHON_HOMES, "/usr")
      .replaceAll(`${homedir()}/`, "/home/user/")
      .replaceAll(hostname(), "host")
      .replace(IDS, (_, kind: string, dash: string, id: string) => `${kind}${dash}${counted(id)}`)
      .replace(TIMES, (_, name: string, space: string) => `"${name}":${space}${SECOND}`)
      .replace(/<__media_[0-9A-Za-z]{32}__>/g, `<__media_${"0".repeat(32)}__>`)
      .replace(/\bpid=\d+/g, "pid=1")
      .replace(/(server process) \[\d+\]/g, "$1 [1]")
      .replace(/(mq_connect_ip=)[0-9.]+/g, "$1127.0.0.1")
      .replace(/(tcp:\/\/)[0-9.]+:\d+/g, "$1127.0.0.1:1")
      .replace(/(ipc:\/\/)\S+?(?=['",\s])/g, "$1socket");
}

/** The exchange without its key and what this machine adds to it; the length of a whole body is made to fit. */
export function anonymousExchange(exchange: RecordedExchange, anonymous: (text: string) => string): RecordedExchange {
  const { response } = exchange;
  const chunks = response.chunks.map(([ms, text]) => [ms, anonymous(text)] as const);
  const length = chunks.reduce((total, [, text]) => total + Buffer.byteLength(text), 0);
  const { date: _, ...kept } = response.headers;
  const headers = "content-length" in kept ? { ...kept, "content-length": String(length) } : kept;
  const { authorization: __, ...sent } = exchange.request.headers;
  return { ...exchange, request: { ...exchange.request, headers: sent }, response: { ...response, headers, chunks } };
}
