const types: Readonly<Record<string, string>> = { csv: "text/csv", json: "application/json" };

/** Saves a text as a file of the browser. */
export function saveText(name: string, text: string): void {
  const type = types[name.split(".").at(-1) ?? ""] ?? "text/plain";
  saveBlob(name, new Blob([text], { type }));
}

/** Saves bytes as a file of the browser. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  URL.revokeObjectURL(url);
}
