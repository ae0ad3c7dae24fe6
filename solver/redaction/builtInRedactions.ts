/** A kind of text to redact, and its replacement. */
export interface Redaction {
  readonly name: string;
  readonly pattern: RegExp;
  readonly replacement: string;
  /** Number of characters from the start of a match that belong to it; 0: none. Left out: all of them. */
  readonly length?: (match: string) => number;
  /** Number of characters at the start of a match that do not belong to it, such as the name of a password. Left out: none. */
  readonly lead?: (match: string) => number;
}

/** Names of the built-in redactions. */
export const builtInNames = ["email", "phone", "card", "iban", "ssn", "ip", "secret", "bearer"] as const;
export type BuiltInName = (typeof builtInNames)[number];

/** Names of members whose texts are secrets. */
export const secretName =
  /^(?:.{0,40}[_-])?(?:password|passwd|pwd|passphrase|(?:client)?secret|(?:access|auth|id|refresh)?token|(?:api|access|secret|private)[_-]?key|authorization|cookie)$/i;

const date = /^\d{1,2}([-/])\d{1,2}\1(?:\d{2}|\d{4})$/;

const ipv4 = String.raw`(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\.?\d)`;

/** Each form of a secret; two consecutive repetitions share no character, so that none is slow. */
const secretForms = [
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-(?!----)){0,50000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr]){0,4}[A-Za-z0-9+/=]{16,90})*)`,
  String.raw`(?<![A-Za-z0-9])(?:[spr]k[-_][A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|SG\.[\w-]{16,64}\.[\w-]{16,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})`,
  String.raw`(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,64}:[^\s/"']{1,128}(?=@)`,
  String.raw`(?<![A-Za-z0-9])(?:\w{0,30}[_-]|[a-z]{1,20}(?=[A-Z]))?(?:[Pp]assw(?:or)?d|PASSW(?:OR)?D|[Pp]wd|PWD|[Pp]assphrase|PASSPHRASE)\\?["']?\s{0,3}[:=]\s{0,3}(?:"[^"\s\\[]{3,100}(?=")|'[^'\s\\[]{3,100}(?=')|\\?["']?(?=[^\s"'\\(),;]{0,100}\d)[^\s"'\\(),;[]{4,100})`,
  String.raw`(?<![A-Za-z0-9])(?:\w{0,30}[_-]|[a-z]{1,20}(?=[A-Z]))?(?:[Aa]pi[Kk]ey|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Kk]ey|KEY)\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?=[A-Za-z0-9_.~+/=-]{0,100}\d)[A-Za-z0-9_.~+/=-]{16,}`,
];

/** In the order of application: a rule whose match another would split comes first. */
export const builtInRedactions: readonly (Redaction & { readonly name: BuiltInName })[] = [
  {
    name: "secret",
    pattern: new RegExp(secretForms.join("|"), "g"),
    replacement: "[secret]",
    lead: (match) => /^[\w-]{1,60}\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?!\/\/)/.exec(match)?.[0].length ?? 0,
  },
  {
    name: "bearer",
    pattern:
      /\b(?:bearer|basic)(?:\s{1,4}[\w.~+/-]{20,}={0,2}|(?<=authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic))\s{1,4}[\w.~+/=-]{4,})/gi,
    replacement: "[bearer]",
  },
  {
    name: "email",
    pattern: /(?<![\p{L}\p{M}\p{N}._%+'-])[\p{L}\p{M}\p{N}._%+'-]+@[\p{L}\p{M}\p{N}-]{1,63}(?:\.[\p{L}\p{M}\p{N}-]{1,63}){1,8}/gu,
    replacement: "[email]",
  },
  {
    name: "iban",
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ \t-]{0,2}[A-Z0-9]{4}){2,7}(?:[ \t-]{0,2}[A-Z0-9]{1,4})?/gi,
    replacement: "[iban]",
    length: ibanLength,
  },
  {
    name: "card",
    pattern:
      /(?<![\d.])(?:[2-6]\d{3}([ \t.-]{1,2})\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|3[47]\d{2}([ \t.-]{1,2})\d{6}\2\d{5}|3[068]\d{2}([ \t.-]{1,2})\d{6}\3\d{4}|[2-6]\d{12,18})(?!\d)/g,
    replacement: "[card]",
    length: cardLength,
  },
  // Of the United States: 000, 666 and those from 900 on are never assigned.
  { name: "ssn", pattern: /(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g, replacement: "[ssn]" },
  {
    name: "ip",
    pattern: new RegExp(
      String.raw`(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}${ipv4}|(?<![\d.])${ipv4}|(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])`,
      "gi",
    ),
    replacement: "[ip]",
    length: (match) => (match.includes(".") || isIpv6(match) ? match.length : 0),
  },
  {
    name: "phone",
    pattern:
      /(?<![\p{L}\p{N}])(?:\+\d{1,3}|00\d{1,3}|\(?0\d{1,4}\)|0\d{1,4}(?=[ /-])|\(?\d{3}\)?(?=[ .-]\d{3}[ .-]\d{4}(?!\d)))(?:[ ()./-]{0,2}\d{1,4}){2,6}(?![\p{L}\p{N}])/gu,
    replacement: "[phone]",
    length: (match) => (isBetween(digitsOf(match).length, 7, 15) && !date.test(match) ? match.length : 0),
  },
];

const isBetween = (count: number, least: number, most: number): boolean => count >= least && count <= most;

const digitsOf = (text: string): string => text.replace(/\D/g, "");

/** A text with the length of a card number that passes its check (ISO/IEC 7812-1, annex B); a following group may not belong to it. */
function cardLength(match: string): number {
  const shorter = match.replace(/[ \t.-]{1,2}\d+$/, "");
  const found = [match, shorter].find((text) => {
    const digits = digitsOf(text);
    return isBetween(digits.length, 13, 19) && passesLuhn(digits);
  });
  return found?.length ?? 0;
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The longest prefix of a match whose check digits are right (ISO 13616): following words may look like more of it. */
function ibanLength(match: string): number {
  for (let length = match.length; length >= 15; length -= 1) {
    const text = match
      .slice(0, length)
      .replace(/[ \t-]/g, "")
      .toUpperCase();
    const ends = /[A-Za-z0-9]/.test(match[length - 1] ?? "");
    if (ends && isBetween(text.length, 15, 34) && passesMod97(text)) return length;
  }
  return 0;
}

function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** Whether it is an IPv6 address (RFC 4291, section 2.2) that identifies a host. */
function isIpv6(text: string): boolean {
  const halves = text.split("::");
  const groups = text.split(":").filter((group) => group !== "");
  if (halves.length > 2 || halves.some((half) => half.startsWith(":") || half.endsWith(":"))) return false;
  return halves.length === 2 ? isBetween(groups.length, 2, 7) && /\d/.test(text) : groups.length === 8;
}
