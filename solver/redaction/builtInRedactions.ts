/** Something that is taken out of texts, and what stands in its place. */
export interface Redaction {
  readonly name: string;
  readonly pattern: RegExp;
  readonly replacement: string;
  /** How many characters from the start of a match are it; 0: none. Left out: all of them. */
  readonly length?: (match: string) => number;
}

/** Names of what Weir itself can take out of texts. */
export const builtInNames = ["email", "phone", "card", "iban", "ip", "secret", "bearer"] as const;
export type BuiltInName = (typeof builtInNames)[number];

const date = /^\d{1,2}([-/])\d{1,2}\1(?:\d{2}|\d{4})$/;

/** In the order in which they are taken out: what another would take a part of comes first. */
export const builtInRedactions: readonly (Redaction & { readonly name: BuiltInName })[] = [
  {
    name: "secret",
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,5000}?-----END [A-Z ]{0,30}PRIVATE KEY-----|(?<![A-Za-z0-9])(?:[spr]k[-_][A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})/g,
    replacement: "[secret]",
  },
  { name: "bearer", pattern: /\b(?:bearer|basic)\s{1,4}[\w.~+/-]{20,}={0,2}/gi, replacement: "[bearer]" },
  { name: "email", pattern: /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu, replacement: "[email]" },
  {
    name: "iban",
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?/gi,
    replacement: "[iban]",
    length: ibanLength,
  },
  {
    name: "card",
    pattern:
      /(?<![\d.])(?:[2-6]\d{3}([ .-])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|3[47]\d{2}([ .-])\d{6}\2\d{5}|3[068]\d{2}([ .-])\d{6}\3\d{4}|[2-6]\d{12,18})(?!\d)/g,
    replacement: "[card]",
    length: cardLength,
  },
  {
    name: "ip",
    pattern:
      /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\.?\d)|(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])/gi,
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

/** What is as long as a card number and passes its check (ISO/IEC 7812-1, annex B); a group that follows may be none of it. */
function cardLength(match: string): number {
  const shorter = match.slice(0, Math.max(match.lastIndexOf(" "), match.lastIndexOf("-"), match.lastIndexOf(".")));
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

/** The longest start of a match whose check digits are right (ISO 13616): words that follow may look like more of it. */
function ibanLength(match: string): number {
  for (let length = match.length; length >= 15; length -= 1) {
    const text = match.slice(0, length).replace(/[ -]/g, "").toUpperCase();
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

/** Whether it is an IPv6 address (RFC 4291, section 2.2) that tells somebody from somebody else. */
function isIpv6(text: string): boolean {
  const halves = text.split("::");
  const groups = text.split(":").filter((group) => group !== "");
  if (halves.length > 2 || halves.some((half) => half.startsWith(":") || half.endsWith(":"))) return false;
  return halves.length === 2 ? isBetween(groups.length, 2, 7) && /\d/.test(text) : groups.length === 8;
}
