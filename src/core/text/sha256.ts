/** The digest of FIPS 180-4, here because the core reads no module of its host. For short texts, not for files. */
const ROUNDS = 64;
const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const BITS_PER_BYTE = 8;

// biome-ignore format: eight a row, as in the standard
const ROUND_CONSTANTS = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
// biome-ignore format: one row
const INITIAL_HASH = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const utf8 = new TextEncoder();

/** 64 lower-case hex digits over the text as UTF-8. */
export function sha256Hex(text: string): string {
  const message = padMessage(utf8.encode(text));
  const hash = new Uint32Array(INITIAL_HASH);
  const schedule = new Uint32Array(ROUNDS);
  for (let offset = 0; offset < message.byteLength; offset += BLOCK_BYTES) {
    fillSchedule(schedule, message, offset);
    mixBlock(hash, schedule);
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The bytes, a 1 bit, zeros up to a whole block, and the length in bits in the block's last eight bytes. */
function padMessage(bytes: Uint8Array): DataView {
  const blocks = Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const padded = new Uint8Array(blocks * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - LENGTH_BYTES, BigInt(bytes.length * BITS_PER_BYTE));
  return view;
}

function fillSchedule(schedule: Uint32Array, message: DataView, offset: number): void {
  for (let t = 0; t < 16; t++) schedule[t] = message.getUint32(offset + t * 4);
  for (let t = 16; t < ROUNDS; t++) {
    const near = schedule[t - 2]!;
    const far = schedule[t - 15]!;
    const nearMix = rotate(near, 17) ^ rotate(near, 19) ^ (near >>> 10);
    const farMix = rotate(far, 7) ^ rotate(far, 18) ^ (far >>> 3);
    schedule[t] = nearMix + schedule[t - 7]! + farMix + schedule[t - 16]!;
  }
}

function mixBlock(hash: Uint32Array, schedule: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = hash as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let t = 0; t < ROUNDS; t++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const first =
      (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + ROUND_CONSTANTS[t]! + schedule[t]!) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) hash[index] = hash[index]! + word;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
