import type { Capture, CaptureRequest } from "@/server/contracts/studio";
import { type BuiltInName, builtInNames } from "@/solver/redaction/builtInRedactions";
import { type RedactionChoice, type RedactionRule, Redactor, redactionRuleSchema } from "@/solver/redaction/redactor";
import { formatCount, formatCounted } from "../ui/format";

/** The key name that the gateway uses for all clients where it has no keys. */
const everybody = "*";
const megabyte = 1024 * 1024;
const gigabyte = 1024 * megabyte;

/** The form's state. A rule has an id that only the page uses, so that rows keep their fields. */
export interface CaptureDraft {
  readonly percent: number;
  readonly keys: readonly string[];
  readonly builtIn: readonly BuiltInName[];
  readonly own: readonly (RedactionRule & { readonly id: number })[];
  readonly retentionDays: number;
  readonly mostMegabytes: number;
  readonly reason: string;
}

/** Defaults: a sample within hours at moderate traffic, all built-in redaction rules, deletion after a fortnight. */
export const firstDraft: CaptureDraft = {
  percent: 5,
  keys: [],
  builtIn: builtInNames,
  own: [],
  retentionDays: 14,
  mostMegabytes: 500,
  reason: "",
};

/** What Weir's own rules match, in words. */
export const builtInWords: Readonly<Record<BuiltInName, string>> = {
  email: "email addresses",
  phone: "phone numbers",
  card: "card numbers that pass their check",
  iban: "IBANs that pass their check",
  ssn: "US social security numbers with dashes",
  ip: "IPv4 and IPv6 addresses",
  secret: "secrets such as sk-…, AKIA…, JWTs, private keys, password=… and user:password@ in addresses",
  bearer: "bearer and basic tokens",
};

const dropWords: Readonly<Record<keyof Capture["counts"]["dropped"], string>> = {
  busy: "too many at once",
  "too-long": "longer than 1 MB",
  "not-text": "with images or other than text",
  "too-slow": "too slow to redact",
  "no-room": "no space left today",
  failed: "not readable or not writable",
};

/** Reasons why part of the share was not kept, most frequent first; empty where all was. */
export const dropped = ({ counts }: Capture): string =>
  Object.entries(counts.dropped)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([why, count]) => `${formatCount(count)} ${dropWords[why as keyof typeof dropWords]}`)
    .join(", ");

/** Matches of each rule, most frequent first; empty where none matched. */
export const redacted = ({ counts }: Capture): string =>
  Object.entries(counts.redacted)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${formatCount(count)} ${name}`)
    .join(", ");

/** Bytes as people size files. */
export const formatBytes = (bytes: number): string =>
  bytes >= gigabyte
    ? `${(bytes / gigabyte).toFixed(1)}\u00a0GB`
    : bytes >= megabyte
      ? `${(bytes / megabyte).toFixed(1)}\u00a0MB`
      : `${Math.ceil(bytes / 1024)}\u00a0kB`;

/** Whose prompts are kept, in words. */
export const captured = ({ keys }: Pick<CaptureRequest, "keys">): string =>
  keys.includes(everybody) ? "everybody" : `${keys.length === 1 ? "the key" : "the keys"} ${keys.join(", ")}`;

/** Until when captured prompts are kept, in words. */
export const staying = ({ files }: Capture): string =>
  `${files.oldestDay === null ? "" : `oldest of ${files.oldestDay}; `}each goes within ${formatCounted(files.retentionDays, "day")}`;

const choiceOf = ({ builtIn, own }: CaptureDraft): RedactionChoice => ({
  builtIn: builtInNames.filter((name) => builtIn.includes(name)),
  own: own.map(({ name, pattern, replacement }) => ({ name: name.trim(), pattern, replacement })),
});

/** Why a rule cannot be used, in a sentence; null where it can. */
export function ruleProblem({ name, pattern, replacement }: RedactionRule): string | null {
  const parsed = redactionRuleSchema.safeParse({ name: name.trim(), pattern, replacement });
  return parsed.success ? null : (parsed.error.issues[0]?.message ?? "it cannot be used");
}

/** The request to the gateway, or what is missing, in a sentence. */
export function prepareCapture(
  draft: CaptureDraft,
  keyNames: Capture["keyNames"],
): { readonly order: Omit<CaptureRequest, "by"> } | { readonly missing: string } {
  const { percent, keys, own, retentionDays, mostMegabytes, reason } = draft;
  const chosen = keyNames === null ? keys.filter((key) => key === everybody) : keyNames.filter((name) => keys.includes(name));
  if (chosen.length === 0)
    return { missing: keyNames === null ? "Confirm that prompts of everybody may be kept." : "Choose the keys whose prompts may be kept." };
  const wrong = own.find((rule) => ruleProblem(rule) !== null);
  if (wrong !== undefined) return { missing: `The rule ${wrong.name.trim() || "without a name"} cannot be used: ${ruleProblem(wrong)}.` };
  const mostBytes = Math.round(mostMegabytes * megabyte);
  return { order: { share: percent / 100, keys: chosen, redactions: choiceOf(draft), retentionDays, mostBytes, reason } };
}

/** A text as it would be stored, and what was removed; null while a rule cannot be used. */
export function tryRedaction(draft: CaptureDraft, text: string): { readonly text: string; readonly found: string } | null {
  if (draft.own.some((rule) => ruleProblem(rule) !== null)) return null;
  const redactor = new Redactor(choiceOf(draft));
  const left = redactor.text(text);
  const found = Object.entries(redactor.takeCounts()).map(([name, count]) => `${count} ${name}`);
  return { text: left, found: found.length === 0 ? "Nothing was found." : `Removed: ${found.join(", ")}.` };
}
