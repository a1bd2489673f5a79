"""The oracle, whose notes the fit imitates: the grand of the sound font MuseScore General.

FluidSynth plays it at 48 kHz without reverb and chorus; it is called through ctypes.
"""

import ctypes

import numpy as np

FONT = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3"
RATE = 48_000


class Oracle:
    """One FluidSynth with the sound font loaded; `note` gives a struck note as an array of (frames, 2)."""

    def __init__(self, font=FONT, gain=1.0):
        lib = self.lib = ctypes.CDLL("libfluidsynth.so.3")
        pointer = ctypes.c_void_p
        lib.new_fluid_settings.restype = pointer
        lib.new_fluid_synth.restype = pointer
        lib.new_fluid_synth.argtypes = [pointer]
        lib.fluid_settings_setint.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int]
        lib.fluid_settings_setnum.argtypes = [pointer, ctypes.c_char_p, ctypes.c_double]
        lib.fluid_synth_sfload.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int]
        lib.fluid_synth_noteon.argtypes = [pointer] + [ctypes.c_int] * 3
        lib.fluid_synth_noteoff.argtypes = [pointer] + [ctypes.c_int] * 2
        lib.fluid_synth_cc.argtypes = [pointer] + [ctypes.c_int] * 3
        lib.fluid_synth_all_sounds_off.argtypes = [pointer, ctypes.c_int]
        lib.fluid_synth_write_float.argtypes = (
            [pointer, ctypes.c_int] + [pointer, ctypes.c_int, ctypes.c_int] * 2
        )
        settings = lib.new_fluid_settings()
        lib.fluid_settings_setnum(settings, b"synth.sample-rate", float(RATE))
        lib.fluid_settings_setnum(settings, b"synth.gain", gain)
        lib.fluid_settings_setint(settings, b"synth.reverb.active", 0)
        lib.fluid_settings_setint(settings, b"synth.chorus.active", 0)
        self.synth = lib.new_fluid_synth(settings)
        if lib.fluid_synth_sfload(self.synth, font.encode(), 1) < 0:
            raise SystemExit(f"{font}: cannot be loaded; install musescore-general-soundfont-small")

    def _render(self, frames):
        buffer = np.zeros(2 * frames, np.float32)
        at = buffer.ctypes.data
        self.lib.fluid_synth_write_float(self.synth, frames, at, 0, 2, at, 1, 2)
        return buffer.reshape(-1, 2).astype(float)

    def note(self, midi, velocity, seconds=9.0, hold=None):
        """The sound of a struck note: with the pedal down, or, if `hold` is given, without the pedal and released after `hold` seconds."""
        lib, synth = self.lib, self.synth
        lib.fluid_synth_all_sounds_off(synth, -1)
        self._render(4_800)
        lib.fluid_synth_cc(synth, 0, 64, 127 if hold is None else 0)
        lib.fluid_synth_noteon(synth, 0, midi, velocity)
        if hold is None:
            return self._render(int(seconds * RATE))
        first = self._render(int(hold * RATE))
        lib.fluid_synth_noteoff(synth, 0, midi)
        return np.vstack([first, self._render(int((seconds - hold) * RATE))])
