import { MAX_UPLOAD_BYTES } from "@/components/ui/uploadFile";

/**
 * A file decompressed by gzip if its name ends in `.gz`; any other unchanged. No more is decompressed than may be uploaded.
 *
 * @throws Error with a sentence if it cannot be decompressed, or is too large.
 */
export async function unpackedFile(file: File): Promise<File> {
  if (!file.name.endsWith(".gz")) return file;
  const chunks: BlobPart[] = [];
  let bytes = 0;
  const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength;
      if (bytes > MAX_UPLOAD_BYTES) break;
      chunks.push(part.value);
    }
  } catch {
    throw new Error(`${file.name} cannot be unpacked: it is cut off, or no gzip file.`);
  }
  if (bytes > MAX_UPLOAD_BYTES) {
    await reader.cancel();
    throw new Error(`${file.name} unpacks to more than the 64 MB that the browser sends: take fewer questions or models.`);
  }
  return new File(chunks, file.name.replace(/\.gz$/, ""));
}
