/** Shorter values are words ("1", "INFO"), and hiding them would make every text unreadable. */
const leastSecretLength = 6;

const hidden = "***";

/** Patterns of keys, at any position. */
const keyShapes: readonly RegExp[] = [
  /\b(?:hf|gh[pousr]|glpat|xox[abprs]|nvapi)[_-][A-Za-z0-9_-]{8,}/g,
  /\bsk-[A-Za-z0-9_-]{8,}/g,
  /\bAKIA[A-Z0-9]{12,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** Patterns of text next to a word for a secret; the word itself stays. */
const keyPlaces: readonly RegExp[] = [
  /(\b(?:Bearer|Basic)\s+)[\w.~+/=-]{6,}/gi,
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  /(\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)["']?\s*[:=]\s*["']?)[^\s"',]{4,}/g,
  /((?:api|access|auth|secret|private)[_-]?(?:key|token)["']?(?:\s*[:=]\s*|\s+)["']?)[^\s"',]{6,}/gi,
  /((?:password|passwd|secret)["']?\s*[:=]\s*["']?)[^\s"',]{4,}/gi,
];

/** Whether a text holds what looks like a key, which belongs into a variable or a file. */
export const looksLikeKey = (text: string): boolean => hideKeys(text) !== text;

/** Names of variables that hold keys. */
export const namesAKey = (name: string): boolean => /KEY$|TOKEN$|SECRET|PASSW/i.test(name);

/**
 * Whether an argument contains or requests a key: arguments such as `--api-key` are not allowed, since all users see a process's arguments.
 */
export const givesKey = (argument: string): boolean =>
  looksLikeKey(argument) || (argument.startsWith("-") && namesAKey(argument.split("=", 1)[0] ?? ""));

/** Hides these values, and whatever looks like a key, in a text that is to be shown or kept. */
export function createMask(values: readonly string[]): (text: string) => string {
  const whole = values.flatMap((value) => [value, ...value.split(/\r?\n/)]).map((value) => value.trim());
  const long = whole.filter((value) => value.length >= leastSecretLength);
  // The longest first: one may begin with another, and its rest would stay.
  const secrets = [...new Set(long.flatMap((value) => [value, encodeURIComponent(value)]))].sort((a, b) => b.length - a.length);
  return (text) => hideKeys(secrets.reduce((shown, secret) => shown.replaceAll(secret, hidden), text));
}

function hideKeys(text: string): string {
  const shaped = keyShapes.reduce((shown, shape) => shown.replace(shape, hidden), text);
  return keyPlaces.reduce((shown, place) => shown.replace(place, `$1${hidden}`), shaped);
}
