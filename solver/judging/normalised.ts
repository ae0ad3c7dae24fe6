/**
 * An answer without differences in form: case, spaces, marks around and between words, LaTeX's dollars, sizes and gaps,
 * thousands separators. Signs of arithmetic stay, and stars that do not enclose words. In time linear in the length: models may loop on any
 * text.
 */
export function normalised(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\\(?:left|right|displaystyle|[,!;: ])/g, "")
    .replace(/\\[dt]frac/g, "\\frac")
    .replace(/\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}/g, "$1")
    .replace(/\{,\}/g, ",")
    .replace(/[−–]/g, "-")
    .replace(/[$`"“”„'‘’«»]/g, "")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/(?<![\w*])(\*{1,3})(?![\s*])([^*]*)(?<!\s)\1(?![\w*])/g, "$2")
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replace(/(?<=\d)\.(?!\d)/g, "")
    .replace(/[,;:!?。，](?!\d)|(?<!\d)[,;:!?。，]/g, " ")
    .replace(/(?<!\.)\.+(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .replace(/ ?([-+/=^(){}[\]<>|%]) ?/g, "$1")
    .replace(/(?<=\w) ?\* ?(?=\w)/g, "*")
    .trim();
}
