import type { Finding, FindingWhat } from "@/server/contracts/studio";

export const ok = (what: FindingWhat, sentence: string): Finding => ({ what, level: "ok", sentence, next: null });
export const warn = (what: FindingWhat, sentence: string, next: string | null): Finding => ({ what, level: "warn", sentence, next });
export const failed = (what: FindingWhat, sentence: string, next: string | null): Finding => ({ what, level: "failed", sentence, next });
