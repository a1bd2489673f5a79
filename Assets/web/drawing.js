// Executes the module's drawing commands on the page's canvases; the counterpart of Sources/Window/Screen/Web/Commands.swift.

/** Makes the module's imports for drawing; `memory()` is the module's memory. */
export function makeDrawing(canvas, memory) {
  const decoder = new TextDecoder();
  const surfaces = new Map([[0, canvas]]);
  const [contexts, texts] = [new Map(), new Map()];
  let [nextSurface, nextText] = [1, 1];
  const measure = new OffscreenCanvas(1, 1).getContext("2d");

  function context(id) {
    let found = contexts.get(id);
    if (!found) {
      found = surfaces.get(id).getContext("2d", { alpha: false });
      contexts.set(id, found);
    }
    return found;
  }

  function dress(g, text) {
    // `g.worn` names the look (font and spacing) that was set last. Comparing names is faster than reading the context's font.
    if (g.worn !== text.look.worn) Object.assign(g, text.look);
  }

  function write(g, text, x, y) {
    dress(g, text);
    g.fillText(text.words, x, y);
  }

  function stroke(g, width, isRound) {
    Object.assign(g, { lineWidth: width, lineJoin: "round", lineCap: isRound ? "round" : "butt" });
    g.stroke();
  }

  /** Copies an area of `source`. If `sunk` is not 0, then draws the same area over the copy, `sunk` pixels lower. */
  function copy(g, source, x, y, width, height, sunk) {
    g.drawImage(source, x, y, width, height, x, y, width, height);
    if (sunk) g.drawImage(source, x, y, width, height - sunk, x, y + sunk, width, height - sunk);
  }

  function shadow(g, x, y, width, height, radius, strength) {
    g.save();
    // Draws only the shadow: the rectangle that casts it is far outside the canvas.
    const away = 20000;
    g.shadowColor = `rgba(0,0,0,${strength})`;
    g.shadowBlur = radius * 0.9;
    g.shadowOffsetX = away * g.getTransform().a;
    g.fillStyle = "#000";
    g.fillRect(x - away, y, width, height);
    g.restore();
  }

  function run(pointer, count) {
    const words = new Uint32Array(memory().buffer, pointer, count);
    const numbers = new Float32Array(memory().buffer, pointer, count);
    const ids = new Int32Array(memory().buffer, pointer, count);
    const colour = k => Math.round(numbers[k] * 255);
    let g = context(0);
    let i = 0;
    while (i < count) {
      switch (words[i++]) {
        case 0: g = context(ids[i++]); g.worn = null; g.setTransform(1, 0, 0, 1, 0, 0); break;
        case 1: g.save(); break;
        case 2: g.restore(); g.worn = null; break;
        case 3: g.beginPath(); g.rect(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]); g.clip(); i += 4; break;
        case 4: g.translate(numbers[i], numbers[i + 1]); i += 2; break;
        case 5: g.fillStyle = g.strokeStyle = `rgba(${colour(i)},${colour(i + 1)},${colour(i + 2)},${numbers[i + 3]})`; i += 4; break;
        case 6: g.fillRect(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]); i += 4; break;
        case 7: g.beginPath(); break;
        case 8: g.moveTo(numbers[i], numbers[i + 1]); i += 2; break;
        case 9: g.lineTo(numbers[i], numbers[i + 1]); i += 2; break;
        case 10: g.bezierCurveTo(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3], numbers[i + 4], numbers[i + 5]); i += 6; break;
        case 11: g.closePath(); break;
        case 12: g.fill(); break;
        case 13: stroke(g, numbers[i], numbers[i + 1]); i += 2; break;
        case 14: write(g, texts.get(ids[i]), numbers[i + 1], numbers[i + 2]); i += 3; break;
        case 15: copy(g, surfaces.get(ids[i]), ...numbers.subarray(i + 1, i + 6)); i += 6; break;
        case 16: g.globalAlpha = numbers[i + 1]; g.drawImage(surfaces.get(ids[i]), 0, 0); g.globalAlpha = 1; i += 2; break;
        case 17: shadow(g, ...numbers.subarray(i, i + 6)); i += 6; break;
        case 18: texts.delete(ids[i++]); break;
        case 19: contexts.delete(ids[i]); surfaces.delete(ids[i++]); break;
        default: throw new Error(`drawing: no operation ${words[i - 1]}`);
      }
    }
  }

  return {
    /** Switches to another canvas for a film or a card; returns the previous one. */
    film(canvas) {
      const before = surfaces.get(-1);
      surfaces.set(-1, canvas);
      contexts.delete(-1);
      return before;
    },
    canvasRun: run,
    surfaceMake(width, height) {
      surfaces.set(nextSurface, new OffscreenCanvas(width, height));
      return nextSurface++;
    },
    surfacePut(id, pointer) {
      const { width, height } = surfaces.get(id);
      const pixels = new Uint8ClampedArray(memory().buffer.slice(pointer, pointer + 4 * width * height));
      context(id).putImageData(new ImageData(pixels, width, height), 0, 0);
    },
    textMake(pointer, count, size, flags, spacing) {
      const bytes = new Uint8Array(memory().buffer, pointer, count);
      const words = decoder.decode(bytes.slice());
      const text = { words, look: {
        worn: `${size} ${flags} ${spacing}`, font: `${flags & 1 ? "italic " : ""}${size}px "EB Garamond", serif`,
        fontVariantCaps: flags & 2 ? "all-small-caps" : "normal", letterSpacing: `${spacing}px`, fontKerning: "normal",
      } };
      dress(measure, text);
      text.width = measure.measureText(words).width;
      texts.set(nextText, text);
      return nextText++;
    },
    textWidth: (id) => texts.get(id).width,
  };
}
