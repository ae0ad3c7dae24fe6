/** A text's JSON object or array; null for any other text. */
export function asStructure(text: string): object | null {
  const plain = text.trim();
  // Most answers are no JSON, and parsing them throws.
  if (!/^[[{]/.test(plain)) return null;
  try {
    const value: unknown = JSON.parse(plain);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Whether a text is JSON of any kind. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
