import { encoderFolderRefusal, identifyEncoder, isEncoderPackageInstalled } from "@/server/encoders/encoderFiles";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import { shortId } from "../lib/planName";

/** An encoder in a local folder. */
interface HeldEncoder extends EncoderIdentity {
  readonly folder: string;
}

/** The encoders that this gateway may run, and whether the runtime for them is present. */
export interface HeldEncoders {
  readonly list: readonly HeldEncoder[];
  readonly canRun: boolean;
}

/**
 * Reads the encoder folders.
 * @returns the encoders, and one sentence for each folder without one.
 */
export async function readEncoderFolders(
  folders: readonly string[],
): Promise<{ readonly encoders: HeldEncoders; readonly problems: readonly string[] }> {
  const list: HeldEncoder[] = [];
  const problems: string[] = [];
  for (const folder of folders) {
    const refusal = encoderFolderRefusal(folder);
    if (refusal !== null) problems.push(refusal);
    else {
      try {
        list.push({ ...(await identifyEncoder(folder)), folder });
      } catch (error) {
        problems.push(`The encoder in ${folder} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`);
      }
    }
  }
  return { encoders: { list, canRun: isEncoderPackageInstalled() }, problems };
}

/** Why a predictor cannot have the encoder whose embeddings it reads, in one sentence with the remedy; null if it can. */
export function encoderRefusal(hash: string, encoder: EncoderIdentity, { list, canRun }: HeldEncoders): string | null {
  const reads = `The predictor ${shortId(hash)} reads embeddings of the encoder ${encoder.name} ${shortId(encoder.sha256)}`;
  if (list.some(({ sha256 }) => sha256 === encoder.sha256))
    return canRun
      ? null
      : `${reads}, and the optional package @huggingface/transformers, which runs it, is not installed here: run npm ci in the gateway's folder.`;
  const other = list.find(({ name }) => name === encoder.name);
  return other === undefined
    ? `${reads}, which this gateway does not have: add its folder to WEIR_ENCODER_FOLDERS and restart the gateway.`
    : `${reads}, but the files in ${other.folder} have the SHA-256 ${shortId(other.sha256)}: replace them by the encoder it was trained with and restart the gateway.`;
}
