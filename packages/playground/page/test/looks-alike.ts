import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'

const EXPECTED = join(import.meta.dirname, 'screenshots')
/** Kept for whoever wants to look; not committed. */
const OUTPUT = join(import.meta.dirname, 'output')

/** So far apart are values (of 255) of a colour that is clearly another one. */
const CLEARLY = 12

/**
 * Compares a screenshot with the committed one by the colours of a grid of cells: where things are and how they look, not which font the
 * machine has. `UPDATE_SCREENSHOTS=1` writes the committed one.
 *
 * @returns The share of cells that are clearly another colour: below 0.03 for other fonts, above 0.1 for another operation.
 */
export async function differenceFrom(browser: Browser, name: string, screenshot: Buffer): Promise<number> {
  mkdirSync(OUTPUT, { recursive: true })
  writeFileSync(join(OUTPUT, `${name}.png`), screenshot)
  const expected = join(EXPECTED, `${name}.png`)
  if (process.env['UPDATE_SCREENSHOTS'] === '1') writeFileSync(expected, screenshot)
  if (!existsSync(expected)) throw new Error(`There is no ${expected}; UPDATE_SCREENSHOTS=1 writes it.`)
  return difference(browser, screenshot, readFileSync(expected))
}

/** The same for two pictures. */
export async function difference(browser: Browser, one: Buffer, other: Buffer): Promise<number> {
  const page = await browser.newPage()
  try {
    const cells: unknown = await page.evaluate(`(${CELLS})(${JSON.stringify([one, other].map((png) => png.toString('base64')))})`)
    const [left = [], right = []] = cells as number[][]
    const differences = left.map((value, index) => Math.abs(value - (right[index] ?? 255)))
    return differences.filter((value) => value > CLEARLY).length / differences.length
  } finally {
    await page.close()
  }
}

/** Draws pictures as small as the grid; runs in the browser, which has what is needed for it. */
const CELLS = `async (pictures) => Promise.all(pictures.map(async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes]), { resizeWidth: 40, resizeHeight: 28, resizeQuality: 'high' })
  const canvas = new OffscreenCanvas(40, 28)
  const context = canvas.getContext('2d')
  context.drawImage(bitmap, 0, 0)
  return [...context.getImageData(0, 0, 40, 28).data].filter((_, index) => index % 4 !== 3)
}))`
