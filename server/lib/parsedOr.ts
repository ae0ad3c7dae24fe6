/** A JSON text's value; `otherwise` if it is no JSON. */
export function parsedOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
