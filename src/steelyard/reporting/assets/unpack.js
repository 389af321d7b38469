// Undoes reporting/packing.py: two letters are 13 bits, the bytes are gzip. Nothing is fetched.
const letters = Array.from({ length: 127 - 35 }, (_, k) => String.fromCharCode(35 + k)).filter((c) => c !== "<").join("");
const value = new Uint8Array(128);
[...letters].forEach((c, k) => (value[c.charCodeAt(0)] = k));
const bytesOf = (text) => {
  const bytes = new Uint8Array(Math.floor((text.length / 2) * 13 / 8));
  let held = 0, bits = 0, at = 0;
  for (let i = 0; i + 1 < text.length; i += 2) {
    held = (held << 13) | (value[text.charCodeAt(i)] * 91 + value[text.charCodeAt(i + 1)]);
    for (bits += 13; bits >= 8 && at < bytes.length; ) bytes[at++] = (held >> (bits -= 8)) & 255;
    held &= (1 << bits) - 1;
  }
  return bytes;
};
const inflate = async (id) => {
  const source = document.getElementById(id);
  const whole = bytesOf(source.textContent.trim()).subarray(0, Number(source.dataset.bytes));
  return new Response(new Blob([whole]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};
const textOf = (buffer) => new TextDecoder().decode(buffer);
// The figures by name, every series as numbers.
const unpackFigures = (buffer) => {
  const length = new DataView(buffer).getUint32(0, true);
  const store = new Uint8Array(buffer, 4 + length);
  const numbers = ({ at, n, low, step }) => {
    const x = new Float64Array(n);
    for (let i = 0, k = 0; i < n; i++) {
      k = (k + store[at + i] + 256 * store[at + n + i]) & 65535;
      x[i] = k === 65535 ? NaN : low + step * k;
    }
    return x;
  };
  const whole = (part) => {
    if (Array.isArray(part)) return part.map(whole);
    if (part === null || typeof part !== "object") return part;
    if ("at" in part && "step" in part) {
      const x = numbers(part);
      return part.rows ? Array.from({ length: part.rows }, (_, r) => x.subarray(r * x.length / part.rows, (r + 1) * x.length / part.rows)) : x;
    }
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, whole(each)]));
  };
  return whole(JSON.parse(textOf(new Uint8Array(buffer, 4, length))));
};
