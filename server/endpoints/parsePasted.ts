import type { KeyReference } from "@/server/contracts/engine/engineAccess";
import type { Outcome } from "@/server/contracts/studio";
import { addressOf, oneAddress } from "../engineClient/address";

/** An endpoint with the data of its address. */
interface PastedEndpoint {
  readonly name: string;
  readonly url: string;
  /** If the text names a variable that may hold it. */
  readonly key?: KeyReference;
}

/** `notes`: what was left out, a sentence each. No key in the text is repeated in any of it. */
export type Pasted = Outcome<{ readonly endpoints: readonly PastedEndpoint[]; readonly notes: readonly string[] }>;

const most = { characters: 200_000, endpoints: 500, shown: 60, faults: 5 };

interface Line {
  /** Counted from 1; for lines joined by a backslash, the first. */
  readonly number: number;
  readonly text: string;
}

/**
 * The endpoints in a block of text: URLs bare or with `/v1`, hosts with their ports, `curl` lines, in lines, lists or separated by commas;
 * comments begin with `#` or `//`. The same address twice counts once, as `localhost` and 127.0.0.1 do.
 *
 * @returns the endpoints in their order, with a note on each line that cannot be read; if none can, the problem with the first.
 * @example parsePasted("http://gpu-1:8000/v1, gpu-2:8000") // endpoints gpu-1-8000 and gpu-2-8000
 */
export function parsePasted(text: string): Pasted {
  if (text.length > most.characters) return { ok: false, message: `That are more than ${most.characters} characters.` };
  const found = new Map<string, PastedEndpoint>();
  const names = new Set<string>();
  const notes: string[] = [];
  const faults: string[] = [];
  for (const line of linesOf(text)) {
    const { addresses, key, held } = /^(\$\s*)?curl\s/.test(line.text) ? readCurl(line.text) : readList(line.text);
    if (held)
      notes.push(
        `Line ${line.number} holds a key, which was left out: put it into a variable such as WEIR_ENGINE_KEY, or a file, and name that.`,
      );
    const read = addresses.map(addressOf);
    const bad = read.findIndex(({ ok }) => !ok);
    const fault = read[bad];
    if (fault !== undefined && !fault.ok) {
      faults.push(`Line ${line.number}: ${shown(addresses[bad] ?? "")}${fault.fault}.`);
      continue;
    }
    if (addresses.length === 0 && line.text !== "") faults.push(`Line ${line.number} holds no address.`);
    for (const { url } of read.filter((address) => address.ok)) {
      if (found.has(oneAddress(url))) continue;
      const name = nameFor(url, names);
      names.add(name);
      found.set(oneAddress(url), { name, url, ...(key === null ? {} : { key }) });
    }
    if (found.size > most.endpoints) return { ok: false, message: `That are more than ${most.endpoints} endpoints.` };
  }
  const [firstFault = "No address was found: paste the URLs of your engines, one a line."] = faults;
  if (found.size === 0) return { ok: false, message: firstFault };
  notes.push(...faults.slice(0, most.faults).map((fault) => `Left out: ${fault}`));
  if (faults.length > most.faults) notes.push(`Left out: ${faults.length - most.faults} more lines that cannot be read.`);
  return { ok: true, endpoints: [...found.values()], notes };
}

/** Lines without comments; lines that end with a backslash are joined with the next. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let open: Line | null = null;
  text.split(/\r\n|\n|\r/).forEach((raw, index) => {
    const own = raw
      .replace(/(^|\s)#.*$/, "")
      .replace(/^\s*\/\/.*$/, "")
      .trim();
    const joined: Line = open === null ? { number: index + 1, text: own } : { number: open.number, text: `${open.text} ${own}`.trim() };
    open = own.endsWith("\\") ? { ...joined, text: joined.text.slice(0, -1).trim() } : null;
    if (open === null) lines.push(joined);
  });
  return open === null ? lines : [...lines, open];
}

interface Read {
  readonly addresses: readonly string[];
  readonly key: KeyReference | null;
  /** The text contained a key itself. */
  readonly held: boolean;
}

/** Brackets and quotes around a word, except those of an IPv6 address. */
const opening = /^(?:["'`({<]|\[(?![0-9a-f:.]+\]))+/i;
const closing = /(?:["'`)}>]|(?<!\[[0-9a-f:.]*)\])+$/i;

/** Several on a line, as in a list of YAML or JSON too. */
function readList(text: string): Read {
  const words = text.split(/[\s,;]+/).map((word) => word.replace(opening, "").replace(closing, ""));
  return { addresses: words.filter((word) => !/^[-*•]*$/.test(word)), key: null, held: false };
}

/** Options of curl with a value, which is no address. */
const valued =
  /^(-[HXduAeboFTmEw]|--(header|request|data|data-raw|data-binary|json|user|user-agent|output|form|max-time|connect-timeout|cacert|cert|key|url-query|oauth2-bearer|cookie|referer|retry|resolve))$/;

/** The address of a `curl` line, and the variable of its bearer token. */
function readCurl(text: string): Read {
  const words = [...text.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
  const addresses: string[] = [];
  let key: KeyReference | null = null;
  let held = false;
  const take = (token: string): void => {
    const variable = /^\$\{?(WEIR_ENGINE_[A-Z0-9_]{1,80})\}?$/.exec(token)?.[1];
    if (variable !== undefined) key = { environment: variable };
    else if (!/^\$\{?\w+\}?$/.test(token)) held = true;
  };
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const next = words[at + 1] ?? "";
    if (word === "-u" || word === "--user" || word === "--oauth2-bearer") take(next);
    const header = /^(?:-H|--header=?)?\s*authorization:\s*(?:bearer\s+)?(.*)$/i.exec(
      word === "-H" || word === "--header" ? next : word,
    )?.[1];
    if (header !== undefined) take(header.trim());
    if (word === "--url") addresses.push(next);
    if (valued.test(word) || word === "--url") at += 1;
    else if (!word.startsWith("-") && header === undefined && word !== "curl") addresses.push(word);
  }
  return { addresses: addresses.slice(0, 1), key, held };
}

/** The input for a sentence, unless it may contain a secret, as any bare word may. */
function shown(written: string): string {
  return /^[a-z]+:\/\/[\w.:/[\]-]*$/i.test(written) && written.length <= most.shown ? `"${written}": ` : "";
}

/** A name for an address: its host's first label and its port, made unique by a number. */
function nameFor(url: string, taken: ReadonlySet<string>): string {
  const { hostname, port, protocol } = new URL(url);
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  const host = isAddress ? hostname : (hostname.split(".")[0] ?? hostname);
  const plain = `${host}-${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
  const name = plain
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(-34)
    .replace(/^-+/, "");
  if (!taken.has(name)) return name;
  for (let count = 2; ; count += 1) if (!taken.has(`${name}-${count}`)) return `${name}-${count}`;
}
