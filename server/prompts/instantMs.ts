/** Seconds of the year 5138, and milliseconds of 1973: no log is of either. */
const FIRST_AS_MS = 1e11;
const LATEST_MS = 8.64e15;
const ISO = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?$/i;

/** A moment as Unix milliseconds: of a number or its text, seconds or milliseconds by its size, or of ISO 8601, UTC unless it says so; null: neither. */
export function instantMs(value: unknown): number | null {
  if (typeof value === "number") return ofNumber(value);
  if (typeof value !== "string" || value.trim() === "") return null;
  const text = value.trim();
  if (/^\d{9,13}(\.\d+)?$/.test(text)) return ofNumber(Number(text));
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return finite(Date.parse(`${text}T00:00Z`));
  const [, day, time, offset = "Z"] = ISO.exec(text) ?? [];
  if (day === undefined) return null;
  const zone = /^(Z|UTC)$/i.test(offset) ? "Z" : offset.replace(/^(...)(\d\d)$/, "$1:$2");
  return finite(Date.parse(`${day}T${time}${zone}`));
}

function ofNumber(value: number): number | null {
  const ms = value >= FIRST_AS_MS ? value : value * 1000;
  return value > 0 && ms <= LATEST_MS ? Math.round(ms) : null;
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
