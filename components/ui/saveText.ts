const types: Readonly<Record<string, string>> = { csv: "text/csv", json: "application/json" };

/** Saves a text as a file of the browser. */
export function saveText(name: string, text: string): void {
  const type = types[name.split(".").at(-1) ?? ""] ?? "text/plain";
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  URL.revokeObjectURL(url);
}
