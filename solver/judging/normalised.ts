/**
 * An answer without what does not make it another one: case, spaces, marks around and between words, LaTeX's dollars, sizes and gaps,
 * thousands separators, trailing zeros. Signs of arithmetic stay.
 */
export function normalised(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\\(?:left|right|displaystyle|[,!;: ])/g, "")
    .replace(/\\[dt]frac/g, "\\frac")
    .replace(/\\(?:text|mathrm|mathbf|textbf)\{([^{}]*)\}/g, "$1")
    .replace(/\{,\}/g, ",")
    .replace(/[−–]/g, "-")
    .replace(/[$*`"“”„'‘’«»]/g, "")
    .toLowerCase()
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replace(/(\d+\.\d*?)0+(?!\d)/g, "$1")
    .replace(/(?<=\d)\.(?!\d)/g, "")
    .replace(/[,;:!?。，](?!\d)|(?<!\d)[,;:!?。，]/g, " ")
    .replace(/\.(?=\s|$)/g, " ")
    .replace(/\s*([-+*/=^(){}[\]<>|%])\s*/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}
