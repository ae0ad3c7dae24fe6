import { parse } from "csv-parse/sync";
import type { Outcome, Prompt, PromptForm } from "@/server/contracts/studio";
import { readCsv } from "@/server/planning/readCsv";
import { isBrokenGzip, openText } from "./openText";
import { formOfLine, promptOfLine } from "./promptLine";
import { promptOf } from "./promptOf";
import { MAX_LINE_BYTES, textLines } from "./textLines";

/** A file of prompts, and the name under which messages speak of it. */
export interface PromptFile {
  readonly path: string;
  readonly name: string;
}

/** What to do with a file's prompts. Reading waits for a promise that is given back. */
export interface PromptReader {
  prompt(prompt: Prompt): null | Promise<null>;
  /** A line that was skipped, and why, in words that repeat nothing of it. */
  skipped(line: number, problem: string): void;
}

const FORMS =
  "Taken are JSON lines, one object a line, of OpenAI's batch form (custom_id, body), of chats (messages) or of a gateway's decision records, and CSV with a column prompt.";

const noForm = ({ name }: PromptFile): string => `${name} has no line that can be read as a prompt. ${FORMS}`;

/**
 * Reads every prompt of a file of any size, in the order of its lines, holding one line at a time. The first line of a known form decides
 * over the form of all. A line that cannot be read is skipped and told.
 *
 * @returns the form, or one sentence: a file of no known form, one that is damaged.
 * @throws what the disk throws.
 */
export async function readPrompts(file: PromptFile, reader: PromptReader): Promise<Outcome<{ readonly form: PromptForm }>> {
  try {
    const form = await formOf(file);
    if (form === null) return { ok: false, message: await refusal(file) };
    return form === "csv" ? await readTable(file, reader) : await readLines(file, form, reader);
  } catch (error) {
    if (isBrokenGzip(error)) return { ok: false, message: `${file.name} is packed with gzip and is damaged or breaks off: pack it again.` };
    throw error;
  }
}

async function readLines(file: PromptFile, form: Exclude<PromptForm, "csv">, reader: PromptReader): Promise<Outcome<{ form: PromptForm }>> {
  for await (const lines of textLines(await openText(file.path))) {
    for (const one of lines) {
      const prompt = "problem" in one ? one.problem : read(one.text, (value) => promptOfLine(value, form, one.line));
      if (typeof prompt === "string") reader.skipped(one.line, prompt);
      else await reader.prompt(prompt);
    }
  }
  return { ok: true, form };
}

const NOT_JSON = "it is not JSON";

/** The parser's own message would repeat the text. */
function read<Value>(text: string, use: (value: unknown) => Value): Value | typeof NOT_JSON {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
  return use(value);
}

async function readTable(file: PromptFile, reader: PromptReader): Promise<Outcome<{ form: PromptForm }>> {
  let columns: ReadonlyMap<string, number> = new Map();
  const table = await readCsv(
    { name: file.name, stream: await openText(file.path) },
    {
      maxRowCharacters: MAX_LINE_BYTES,
      header(names) {
        columns = columnsOf(names);
        return null;
      },
      row(cells, line) {
        const cell = (name: string): string | undefined => cells[columns.get(name) ?? -1]?.trim();
        const messages = [{ role: "user", content: cells[columns.get("prompt") ?? -1] }];
        const rest = { category: cell("category"), at: cell("timestamp"), reference: cell("reference"), test: cell("test") };
        const prompt = promptOf({ ...rest, line, id: cell("id"), messages, settings: {} });
        if (typeof prompt !== "string") return reader.prompt(prompt);
        reader.skipped(line, prompt);
        return null;
      },
      misshapen: (problem, line) => reader.skipped(line, problem),
    },
  );
  return table.ok ? { ok: true, form: "csv" } : table;
}

const columnsOf = (names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(names.map((name, at) => [name.trim().toLowerCase(), at]));

/** null: no line is of a known form. */
async function formOf({ path }: PromptFile): Promise<PromptForm | null> {
  let isFirst = true;
  for await (const lines of textLines(await openText(path))) {
    for (const one of lines) {
      if ("problem" in one) continue;
      if (isFirst && isHeader(one.text)) return "csv";
      if (isFirst && beginsList(one.text)) return null;
      isFirst = false;
      const form = read(one.text, formOfLine);
      if (form !== null && form !== NOT_JSON) return form;
    }
  }
  return null;
}

/** Its lines are no objects, but for the last, which has no comma behind it. */
const beginsList = (text: string): boolean => /^\[\s*(\{|$)/.test(text);

function isHeader(text: string): boolean {
  try {
    const [names = []] = parse(text, { to: 1 }) as string[][];
    return columnsOf(names).has("prompt");
  } catch {
    return false;
  }
}

/** Why nothing of a file could be read, with what the commonest mistakes look like. */
async function refusal(file: PromptFile): Promise<string> {
  for await (const lines of textLines(await openText(file.path))) {
    const [first] = lines;
    if (first === undefined) continue;
    if ("problem" in first) return `${noForm(file)} Line ${first.line} cannot be read: ${first.problem}.`;
    if (beginsList(first.text)) return `${noForm(file)} This one begins like one list: write each of its objects on a line of its own.`;
    return noForm(file);
  }
  return `${file.name} is empty. ${FORMS}`;
}
