import { Document, Scalar, type Tags, visit } from "yaml";

/** What may stand without quotes, if the library agrees: words that no version of YAML reads as anything but text. */
const plainWord = /^(?:[A-Za-z/]|--?[A-Za-z])[\w ./:@+,=-]*$/;

/**
 * Characters that are line breaks or not allowed in one version of YAML or another, such as U+2028, on which a reader of YAML 1.1 begins a
 * new line. Line feeds and tabs are the library's.
 */
const special = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/u;
const everySpecial = new RegExp(special.source, "gu");

/** YAML has no surrogate pairs: a character beyond U+FFFF is one escape. */
function escaped(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** The library writes a text `<<` bare, which merges mappings. */
const withoutMerge = (tags: Tags): Tags => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:merge");

/**
 * A value as YAML that readers of versions 1.1 (kubectl, PyYAML) and 1.2 read alike. Texts are quoted unless they are plain words, and
 * special characters are escaped.
 */
export function yamlText(value: unknown): string {
  const document = new Document(value, { version: "1.1", merge: false, customTags: withoutMerge, aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== "string" || plainWord.test(node.value)) return;
      // The library loses the spaces of a block that holds nothing else.
      const isBlock = node.value.includes("\n") && /\S/.test(node.value) && !special.test(node.value);
      if (!isBlock) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  const text = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  // They stand in double quotes only, where these escapes are the same characters.
  return text.replace(everySpecial, escaped);
}

/** Several documents of one file. */
export const yamlDocuments = (values: readonly unknown[]): string => values.map(yamlText).join("---\n");
