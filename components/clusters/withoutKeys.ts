/** What stands in place of a key; the studio reads it as one that was left out, and says so. */
const LEFT_OUT = "left-out";

/** A variable, which names a key and is none. */
const isVariable = (token: string): boolean => /^\$\{?\w+\}?$/.test(token);

const blank = (whole: string, before: string, token: string): string => (isVariable(token) ? whole : `${before}${LEFT_OUT}`);

/**
 * Pasted text without the keys in it: they stay in the browser, since what is tried is part of an address. Lines keep their numbers.
 *
 * @example withoutKeys("curl -H 'Authorization: Bearer sk-1' http://gpu-1:8000") // curl -H 'Authorization: Bearer left-out' http://gpu-1:8000
 */
export function withoutKeys(text: string): string {
  return text
    .replace(/(authorization:\s*(?:(?:bearer|basic|token)\s+)?)([^\s"'\\]+)/gi, blank)
    .replace(/((?:x-)?api-key\s*[:=]\s*)([^\s"'\\]+)/gi, blank)
    .replace(/((?:^|\s)(?:-u|--user|--oauth2-bearer)[\s=]+["']?)([^\s"'\\]+)/gim, blank)
    .replace(/(https?:\/\/)([^\s/@"']+@)/gi, `$1${LEFT_OUT}@`)
    .replace(/()\b((?:sk|hf|gsk|nvapi|glpat|ghp)[-_][A-Za-z0-9_-]{8,})/g, blank);
}
