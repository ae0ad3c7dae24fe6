const FRACTION_BITS = 10;
const LARGEST_EXPONENT = 31;
const EXPONENT_BIAS = 15;

/** The value of an IEEE 754 binary16 number from its 16 bits. Every such value is one of binary32 too. */
export function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> FRACTION_BITS) & LARGEST_EXPONENT;
  const fraction = (bits & 0x3ff) / 2 ** FRACTION_BITS;
  if (exponent === LARGEST_EXPONENT) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - EXPONENT_BIAS);
  return sign * (1 + fraction) * 2 ** (exponent - EXPONENT_BIAS);
}

/** All values of a little-endian binary16 array. */
export function halfValues(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength / 2 }, (_, at) => halfValue(view.getUint16(2 * at, true)));
}
