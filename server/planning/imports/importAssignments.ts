import { z } from "zod";
import { textLines } from "@/server/lib/textLines";
import { MOST_EXPERTS } from "@/solver/ensemble/gate/ensembleDocument";
import { nameProblem, shown } from "@/solver/workload/outcomeRow";
import { type CsvSource, readCsv, type TableEnd } from "./readCsv";
import { createRefusedRows } from "./refusedRows";

/** Most questions in assignments: the limit of one batch. */
const MOST_QUESTIONS = 1_000_000;

const lineSchema = z.strictObject({ id: z.string(), experts: z.array(z.string()).min(1, "name at least one expert") });

/** Experts by question. */
export type Assignments = ReadonlyMap<string, readonly string[]>;

/**
 * Reads who answers which question from a file of any size: a CSV with the columns id and expert, a row for each expert of a question, or
 * lines of JSON `{"id": …, "experts": […]}`. The first character determines the format.
 *
 * @returns experts by question in the file's order, or one sentence with file, line and problem.
 */
export async function importAssignments({ name, stream }: CsvSource): Promise<Assignments | string> {
  const chunks = stream[Symbol.asyncIterator]();
  const begun = await beginning(chunks);
  const source = { name, stream: whole(begun, chunks) };
  return begun.toString().trimStart().startsWith("{") ? fromLines(source) : fromCsv(source);
}

/** Blank bytes at the start of a file within which its first character must appear. */
const BLANK_BYTES = 65_536;

/** The first bytes that are not blank; a byte order mark counts as blank. */
async function beginning(chunks: AsyncIterator<Uint8Array | string>): Promise<Buffer> {
  let begun = Buffer.alloc(0);
  while (begun.length < BLANK_BYTES && begun.toString().trim() === "") {
    const { value, done } = await chunks.next();
    if (done === true) break;
    begun = Buffer.concat([begun, Buffer.from(value)]);
  }
  return begun;
}

async function* whole(begun: Buffer, rest: AsyncIterator<Uint8Array | string>): AsyncGenerator<Buffer> {
  try {
    yield begun;
    for (let { value, done } = await rest.next(); done !== true; { value, done } = await rest.next()) yield Buffer.from(value);
  } finally {
    // If reading ends early, the file would stay open.
    await rest.return?.();
  }
}

async function fromCsv(source: CsvSource): Promise<Assignments | string> {
  const experts = new Map<string, string[]>();
  let [idAt, expertAt] = [-1, -1];
  const read = await readCsv(source, {
    header(names) {
      [idAt, expertAt] = ["id", "expert"].map((name) => names.findIndex((found) => found.trim() === name)) as [number, number];
      if (idAt >= 0 && expertAt >= 0) return null;
      return `id, expert: no such columns among ${names.slice(0, 15).map(shown).join(", ")}; name them so, with a row for each expert of a question`;
    },
    row: (cells) => assign(experts, cells[idAt]?.trim() ?? "", [cells[expertAt]?.trim() ?? ""]),
  });
  return read.ok ? experts : read.message;
}

async function fromLines({ name, stream }: CsvSource): Promise<Assignments | string> {
  const experts = new Map<string, string[]>();
  const refused = createRefusedRows(name);
  reading: for await (const lines of textLines(stream as AsyncIterable<Buffer>)) {
    for (const each of lines) {
      const problem = "problem" in each ? each.problem : takeLine(experts, each.text);
      if (typeof problem === "string") refused.add({ line: each.line, reason: problem });
      else if (problem !== null) refused.add({ line: each.line, reason: problem.end });
      if (refused.isEnough(each.line) || (problem !== null && typeof problem !== "string")) break reading;
    }
  }
  return refused.message() ?? experts;
}

function takeLine(experts: Map<string, string[]>, text: string): string | TableEnd | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `this is not JSON: ${shown(text)}`;
  }
  const line = lineSchema.safeParse(value);
  if (!line.success) return `${line.error.issues[0]?.path.join(".") || "the line"}: ${line.error.issues[0]?.message ?? "is wrong"}`;
  if (experts.has(line.data.id)) return `id ${shown(line.data.id)} has a line before; keep one`;
  return assign(experts, line.data.id, line.data.experts);
}

/** Adds experts to a question's; returns null, or the problem with them. */
function assign(experts: Map<string, string[]>, id: string, named: readonly string[]): string | TableEnd | null {
  const idProblem = nameProblem(id);
  if (idProblem !== null) return `id ${idProblem}`;
  const own = experts.get(id) ?? [];
  if (!experts.has(id) && experts.size === MOST_QUESTIONS)
    return { end: `the file goes on after ${MOST_QUESTIONS} questions; take a part of it` };
  for (const expert of named) {
    const problem = nameProblem(expert);
    if (problem !== null) return `expert ${problem}`;
    if (own.includes(expert)) return `expert ${shown(expert)} is named twice for ${shown(id)}; keep it once`;
    own.push(expert);
  }
  if (own.length > MOST_EXPERTS) return `${shown(id)} has more than ${MOST_EXPERTS} experts; leave some out`;
  experts.set(id, own);
  return null;
}
