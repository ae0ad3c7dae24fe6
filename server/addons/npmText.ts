import type { AddonFailure } from "@/server/contracts/studio";

/** What an operator sees of a line of npm's output; null: nothing. */
export function npmLine(line: string): string | null {
  const fetched = /npm http fetch GET (\d{3}) (\S+)/.exec(line);
  if (fetched !== null) {
    const [, status, address = ""] = fetched;
    return address.endsWith(".tgz") ? `${status === "200" ? "Fetched" : `Answered ${status}:`} ${packageIn(address)}` : null;
  }
  return /^npm (http|verbose|info|warn deprecated)/i.test(line) ? null : line.trim();
}

/** The file's name without the registry's address. */
const packageIn = (address: string): string => address.replace(/^.*\//, "").replace(/\.tgz$/, "");

const unreachable = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|EHOSTUNREACH)\b/;

/** Why npm failed, in one sentence, by the lines it wrote. */
export function npmReason(lines: readonly string[], ending: Error): { readonly cause: AddonFailure; readonly reason: string } {
  const errors = lines.filter((line) => /^npm (error|ERR!)/.test(line)).map((line) => line.replace(/^npm (error|ERR!) ?/, ""));
  const text = errors.join(" ");
  const network = unreachable.exec(text);
  if (network !== null) return { cause: "unreachable", reason: `The package registry cannot be reached (${network[1]}).` };
  const errorLine = errors.find(
    (line) => !/^(code|errno|syscall|path)\b/.test(line) && line.trim() !== "" && !line.includes("complete log"),
  );
  return { cause: "npm", reason: errorLine === undefined ? `${ending.message}.` : `npm failed: ${errorLine.replace(/\.$/, "")}.` };
}
