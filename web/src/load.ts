// The document out of the page: plain JSON, or deflated (zlib's format) and in base64, as the element's data-encoding says.

import { PageData } from "./contract";
import { checkDocument } from "./model";

function bytesOf(base64: string): Uint8Array {
    const binary = atob(base64.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function inflate(bytes: Uint8Array): Promise<string> {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old for the page (it has no DecompressionStream)");
    const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
}

export async function loadDocument(): Promise<PageData> {
    const element = document.getElementById("assay-data");
    const text = element?.textContent ?? "";
    if (!element || text.trim() === "") throw new Error("this page has no profile in it");
    const plain = element.dataset.encoding === "deflate-base64" ? await inflate(bytesOf(text)) : text;
    element.textContent = ""; // megabytes that nobody reads again
    return checkDocument(JSON.parse(plain));
}
