import { parse } from "yaml";
import { isRecord } from "@/solver/collections/isRecord";

/** The unconfirmed values of a stored connection. */
export interface GuessedValues {
  /** By endpoint: `gpu-1-8000: GPU type h100-sxm, tensor parallel 4`. */
  readonly lines: readonly string[];
  /** The connection with all guesses confirmed. */
  readonly confirmed: unknown;
}

const words: Readonly<Record<string, string>> = {
  model: "model",
  gpu: "GPU type",
  tp: "tensor parallel",
  pp: "pipeline",
  precision: "precision",
};

/** Values of a connection's text that were guessed when it was attached; null if there are none. */
export function guessedValues(text: string): GuessedValues | null {
  const connection: unknown = parse(text);
  if (!isRecord(connection) || !Array.isArray(connection.endpoints)) return null;
  const endpoints = connection.endpoints.filter(isRecord);
  const lines = endpoints.flatMap((endpoint) => {
    const guessed = Array.isArray(endpoint.guessed) ? endpoint.guessed.map(String) : [];
    const said = guessed.map((field) => `${words[field] ?? field} ${String(endpoint[field] ?? "")}`.trim());
    return said.length === 0 ? [] : [`${String(endpoint.name)}: ${said.join(", ")}`];
  });
  return lines.length === 0
    ? null
    : { lines, confirmed: { ...connection, endpoints: endpoints.map((endpoint) => ({ ...endpoint, guessed: [] })) } };
}
