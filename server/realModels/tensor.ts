/** Values in single precision, the last dimension of the shape running fastest. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export type Tensors = ReadonlyMap<string, Tensor>;

/** How many values a shape holds. */
export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** The values as little-endian binary32, on any machine. */
export function singleBytes(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  values.forEach((value, at) => view.setFloat32(4 * at, value, true));
  return bytes;
}

/** The values of little-endian binary32 bytes. */
export function singleValues(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, at) => view.getFloat32(4 * at, true));
}
