#pragma once
// The few functions of Pango that the game calls, declared by hand.
//
// Pango's own headers need GLib's include paths. Only pkg-config reports these, together with `-pthread`, for which SwiftPM warns in every
// build. The functions below are a stable C ABI (Pango 1.44 and later); all types are opaque.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _cairo cairo_t;
typedef struct _cairo_font_options cairo_font_options_t;
typedef struct _FcConfig FcConfig;
typedef struct _PangoFontMap PangoFontMap;
typedef struct _PangoContext PangoContext;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoAttrList PangoAttrList;
typedef struct _PangoAttribute PangoAttribute;

typedef struct {
  int x, y, width, height;
} AlinaPangoRectangle;

FcConfig *FcConfigCreate(void);
FcConfig *FcInitLoadConfigAndFonts(void);
int FcConfigAppFontAddFile(FcConfig *config, const unsigned char *file);
void FcConfigDestroy(FcConfig *config);

PangoFontMap *pango_cairo_font_map_new_for_font_type(int type);
void pango_fc_font_map_set_config(PangoFontMap *map, FcConfig *config);
PangoContext *pango_font_map_create_context(PangoFontMap *map);
void pango_cairo_context_set_resolution(PangoContext *context, double dpi);
void pango_cairo_context_set_font_options(PangoContext *context, const cairo_font_options_t *options);
void pango_context_set_round_glyph_positions(PangoContext *context, int round);

PangoFontDescription *pango_font_description_new(void);
void pango_font_description_free(PangoFontDescription *description);
void pango_font_description_set_family(PangoFontDescription *description, const char *family);
void pango_font_description_set_style(PangoFontDescription *description, int style);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
PangoAttrList *pango_attr_list_new(void);
void pango_attr_list_insert(PangoAttrList *list, PangoAttribute *attribute);
void pango_attr_list_unref(PangoAttrList *list);
PangoAttribute *pango_attr_font_features_new(const char *features);
PangoAttribute *pango_attr_letter_spacing_new(int spacing);

PangoLayout *pango_layout_new(PangoContext *context);
PangoLayout *pango_cairo_create_layout(cairo_t *cr);
void pango_layout_set_text(PangoLayout *layout, const char *text, int length);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *description);
void pango_layout_set_attributes(PangoLayout *layout, PangoAttrList *attributes);
void pango_layout_set_width(PangoLayout *layout, int width);
void pango_layout_set_wrap(PangoLayout *layout, int wrap);
void pango_layout_set_alignment(PangoLayout *layout, int alignment);
void pango_layout_set_line_spacing(PangoLayout *layout, float factor);
void pango_layout_get_extents(PangoLayout *layout, AlinaPangoRectangle *ink, AlinaPangoRectangle *logical);
int pango_layout_get_baseline(PangoLayout *layout);
void pango_layout_get_cursor_pos(
    PangoLayout *layout, int index, AlinaPangoRectangle *strong, AlinaPangoRectangle *weak);
int pango_layout_get_unknown_glyphs_count(PangoLayout *layout);
void pango_cairo_show_layout(cairo_t *cr, PangoLayout *layout);

const char *pango_version_string(void);

void *g_object_ref(void *object);
void g_object_unref(void *object);

#ifdef __cplusplus
}
#endif
