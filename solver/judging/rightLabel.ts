/** Minimum label, 0..100, of an answer that counts as right wherever right and wrong are told apart: at least half right. */
const RIGHT_FROM = 50;

/** Whether a quality of 0..100, a label or a score that stands for one, is that of a right answer. */
export const isRightLabel = (quality: number): boolean => quality >= RIGHT_FROM;
