import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

const utf8 = new TextEncoder();

/** 64 lower-case hex digits over the text as UTF-8. The core reads no module of its host, whose digest is for files. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8.encode(text)));
}
