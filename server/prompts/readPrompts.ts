import type { Outcome, Prompt, PromptForm } from "@/server/contracts/studio";
import { textLines } from "../lib/textLines";
import { cellsOf, csvRows } from "./csvRows";
import { isBrokenGzip, openText } from "./openText";
import { formOfLine, promptOfLine } from "./promptLine";
import { promptOf } from "./promptOf";

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
 * Reads every prompt of a file of any size, in the order of its lines, holding one line at a time. The first line of a known form
 * determines the form of all. A line that cannot be read is skipped and reported.
 *
 * @returns the form, or one sentence: a file of no known form, one that is damaged.
 * @throws the disk's errors.
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

interface TableHeader {
  readonly width: number;
  /** Of a column's name in small letters, its place. */
  readonly columns: ReadonlyMap<string, number>;
}

async function readTable(file: PromptFile, reader: PromptReader): Promise<Outcome<{ form: PromptForm }>> {
  let header: TableHeader = { width: 0, columns: new Map() };
  let hasRows = false;
  for await (const rows of csvRows(await openText(file.path))) {
    for (const row of rows) {
      if ("cells" in row && header.width === 0) {
        header = { width: row.cells.length, columns: columnsOf(row.cells) };
        continue;
      }
      hasRows = true;
      const prompt = "problem" in row ? row.problem : promptOfRow(row.cells, header, row.line);
      if (typeof prompt === "string") reader.skipped(row.line, prompt);
      else await reader.prompt(prompt);
    }
  }
  return hasRows ? { ok: true, form: "csv" } : { ok: false, message: `${file.name} has a header line but no rows; add some.` };
}

function promptOfRow(cells: readonly string[], { width, columns }: TableHeader, line: number): Prompt | string {
  if (cells.length !== width) {
    return `found ${cells.length} fields where the header has ${width}; add or remove fields, or quote a field with commas`;
  }
  const cell = (name: string): string | undefined => cells[columns.get(name) ?? -1]?.trim();
  const messages = [{ role: "user", content: cells[columns.get("prompt") ?? -1] }];
  const rest = { category: cell("category"), at: cell("timestamp"), reference: cell("reference"), test: cell("test") };
  return promptOf({ ...rest, line, id: cell("id"), messages, settings: {} });
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

const isHeader = (text: string): boolean => columnsOf(cellsOf(text) ?? []).has("prompt");

const separatorWords: Readonly<Record<string, string>> = { ";": "semicolons", "\t": "tabs", "|": "upright strokes" };

/** A longer name would be a sentence, or part of a prompt. */
const MOST_NAME = 40;
const MOST_NAMES = 20;

/** What a table calls its columns, by its first line; none where that is no such line. */
function tableColumns(text: string): readonly string[] {
  const names = (cellsOf(text) ?? []).map((name) => name.trim());
  const isTable = names.length > 1 && !text.startsWith("{") && names.every((name) => name !== "" && name.length <= MOST_NAME);
  if (!isTable) return [];
  return names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES), `and ${names.length - MOST_NAMES} more`] : names;
}

/** Why nothing of a file could be read, with the most common mistakes. */
async function refusal(file: PromptFile): Promise<string> {
  for await (const lines of textLines(await openText(file.path))) {
    const [first] = lines;
    if (first === undefined) continue;
    if ("problem" in first) return `${noForm(file)} Line ${first.line} cannot be read: ${first.problem}.`;
    if (beginsList(first.text)) return `${noForm(file)} This one begins like one list: write each of its objects on a separate line.`;
    if (first.text.includes("\r")) return `${noForm(file)} Lines of this one end with carriage returns alone: end them with line feeds.`;
    const other = [";", "\t", "|"].find((one) => isHeader(first.text.replaceAll(one, ",")));
    if (other !== undefined) {
      return `${noForm(file)} The columns of this one are parted by ${separatorWords[other]}: write it with commas.`;
    }
    const columns = tableColumns(first.text);
    if (columns.length === 0) return noForm(file);
    return `${noForm(file)} If this is a table, its columns are ${columns.join(", ")}: name the one that holds the prompts "prompt".`;
  }
  return `${file.name} is empty. ${FORMS}`;
}
