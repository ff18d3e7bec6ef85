import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { commitFunctions } from "../../src/store/postgres/commit/commit-function.js";
import { MIGRATIONS as POSTGRES } from "../../src/store/postgres/migrations.js";
import { MIGRATIONS as SQLITE } from "../../src/store/sqlite/migrations.js";

/** What landed is never edited: databases made with it are out there. Add a line for a new version, change none. */
const SQLITE_CHECKSUMS: readonly string[] = [
  "1 37adf614d2d754e224bd68b628cff10b189abff9648c8f69ff67485aaf06428b",
  "2 6c46b0935da8a9811554e61f2e50fa344eb2f88f252ac859b1a0030a3e710cc4",
  "3 53039936e2ee95e4d67504332dff6c4b7d06ab7163500650a4e908dacc2e930c",
  "4 cf22a4ae5eaafecfbd4ce0adaa8c8ebedd9746ffa5b69e274fa141211f2bd731",
  "5 92b09f0f19b25ecc3d2ffa11662473d06b3a05f9eb814507039ce67cf59a3345",
  "6 96f125002e4ee51c57ba0cb07273ea38e5284093fb3798177a30e60c5d661723",
  "7 39d8444af63b67d2eef6c12aa7bb5b0756c404c97d576414dabc204189183602",
  "8 1d831d963a348aa2ad26e3f4614429e87362923f5ce5278767e00cf1b758f61c",
  "9 71aeab073d36e5576df79055f2079e0cd766dec4279e578e4abec9a22fa9f09d",
  "10 037434e9e5d4ca984d83529d369b756bc4abd96ff7d7cdc2c059586ce0188fac",
  "11 0f79450ef7b5f2d3ecf3d7bbff48ac44d50fd98024967bc6edcbe8cbb60fab4d",
  "12 eb2bc5303a4b3c8c27dfa81f526f31bf4e6fa9be71abcb1bcdd11468389f4682",
  "13 3d2c79cc9f4e25469e8f04807e8dba5e2d717e19d4bc8bdf695d34452d051f38",
  "14 f9b60d9b1a475cb25df4bc2ea499c5d82fcaaf6aa1c0eb8edc8624b3e2372393",
  "15 0baa0d8fd51df69a2dad74c34040c781ccb7d6e3b384fe736e248af109ee7058",
  "16 9d45846a6c706ec4cf213e2ce47251ea0e5b0f40774b097c2b6d808d9ca623a9",
  "17 06e214946a335cf7a5737f9b6db8ba4f49604d6f242e06dd2a43c394c189ec30",
  "18 d47369a18a6b22bc484dd90a6bad9401ac1fb1d2d92ba0e342b05dd7b64718b3",
  "19 0cb1e26caacfb2e40f43426d62c77df6ac935e0c3b28d26eb85ab26cba8c1fd7",
  "20 0eaf753aa7f2269ab6dde19f09e6bc7efca63c18a7cb529e629c4c9650427fc2",
];
const POSTGRES_CHECKSUMS: readonly string[] = [
  "1 1751a84abd9393e20a4bf66084f9ce9b619c111a18c179a356d503ce35d5951c",
  "2 24a513c4af6f707a5aa3fd80c744de0d092a66182af8c9bcdaf25aa56e5ede3c",
  "3 fcac499f1398bfe68d880bf539f44f4923dde121a75df1dd60bfba302257ffb4",
  "4 571db785d62403625fc0f5a97c837b6d5fc2d7ddc94fbb2428f91b9f82b91af7",
  "5 54e89a425cf17dcb15c52704060f7e0acb6aabb6740d42bdbb616468b00bf516",
  "6 cc02154ff3b56dd574c4f67cd0efae136c80bb1f11ed4262414e42eb215fb083",
  "7 5602505c9ed1fdebb37e5f7e9a5bdda8632f6e69645fe4a784923fa3015ddd1c",
  "8 8ec82af66f5884f5c74bb9c1559d7bb68a4dab3e1807fbdabba933885127b4a5",
  "9 aa36be00829a78f724e6c88d8f7d98b8e6d1ae9c3b92721d53f3f61921d9adfd",
  "10 f7f9cbd6cd6b40b86e268857ac5eeba12236c456d1bdcd4672291b8f3349931f",
  "11 14e57cef75c3ea584a382c623033b9db9f7117f209f16f1d146c03ee1b11d29b",
  "12 08bab1dad3ecc8671ca7928d8dc9fb8400d0ba3e8b0345d7acf00d89c727a93d",
  "13 7173e1fdfb86c6ba08476123ecb78b8448bedd72bbce659ae426001974b06b95",
  "14 20979a6d31b7f3622de85ec20318fff1850fe50b6c65bcb20f63442bd0fd8fd4",
  "15 931ea3e8ca8d1ef9a093036a8537d2db60a76695d392242d6c02df521d0f422d",
  "16 723198868bb6640d6cd784c8f40665fa4226018d9bd6875aa6d2d07a2956e764",
  "17 0ca499368425f5a2a7ed07837984b837b24523cad2e429be339037be53055d4e",
  "18 5ddcd2ec475e08169fe714bc8f6828108b433fab7219f4d106bd36fa6e2a5b1b",
  "19 0eaf753aa7f2269ab6dde19f09e6bc7efca63c18a7cb529e629c4c9650427fc2",
  "20 73545058962e75fc349c5cd915886db99c0ff282bfacd891d6ec63f106c1cc38",
];

/** The functions of PostgreSQL are made anew after migrations only: where their text changes, a migration must come with it. */
const FUNCTIONS_CHECKSUM = "20 adb3696d64a1aab0b071956931b8e2d681e88f27d14e0aadeb717435559bf53e";

/** Spaces and line breaks may change. */
function checksumOf({ version, sql }: { readonly version: number; readonly sql: string }): string {
  const text = sql.replaceAll(/\s+/g, " ").trim();
  return `${version} ${createHash("sha256").update(text).digest("hex")}`;
}

test.each([
  ["SQLite", SQLITE, SQLITE_CHECKSUMS],
  ["PostgreSQL", POSTGRES, POSTGRES_CHECKSUMS],
])("the migrations of %s are those that landed", (_, migrations, checksums) => {
  expect(migrations.map(checksumOf)).toEqual(checksums);
});

test("the functions of PostgreSQL are those that the newest migration left behind", () => {
  const { version } = POSTGRES.at(-1)!;
  expect(checksumOf({ version, sql: commitFunctions() })).toBe(FUNCTIONS_CHECKSUM);
});

test("an edit of one word is noticed", () => {
  const [first] = SQLITE;
  const edited = { version: 1, sql: first!.sql.replace("folder TEXT NOT NULL", "folder TEXT") };
  expect(checksumOf(edited)).not.toBe(SQLITE_CHECKSUMS[0]);
});
