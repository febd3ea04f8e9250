-- By hand, all of it. The form in which searches compare texts: without differences of letter case and of normal forms. It is
-- NFC(toCasefold(NFD(text))), with the full default case folding of Unicode 17.0 (sections 3.11 and 3.13 of its core
-- specification). PostgreSQL has casefold() from version 18 on only, and lower() depends on the locale of the database. The
-- mock has the same form in JavaScript (scripts/mock/search-form.ts), and a test compares both for every code point.
--
-- The functions are immutable, and indexes contain what they return. So a change needs new names and new indexes.
DO $make$
DECLARE
  "steps" text := '';
  "characters" record;
BEGIN
  -- One letter for another. The characters that NFD decomposes are not among them, nor those of ASCII. In blocks, because
  -- translate() compares each character of a text with each that it looks for.
  FOR "characters" IN
    SELECT string_agg("found"."each", '' ORDER BY "found"."code") AS "all", string_agg("found"."folded", '' ORDER BY "found"."code") AS "folded",
      string_agg(DISTINCT "found"."range", '') AS "ranges"
    FROM (VALUES
      -- The first and the last code point, the step between them, and the distance to the letter that replaces each.
      (181,181,1,775), (198,198,1,32), (208,208,1,32), (216,216,1,32), (222,222,1,32), (272,272,1,1), (294,294,1,1),
      (306,306,1,1), (319,321,2,1), (330,330,1,1), (338,338,1,1), (358,358,1,1), (383,383,1,-268), (385,385,1,210),
      (386,388,2,1), (390,390,1,206), (391,391,1,1), (393,394,1,205), (395,395,1,1), (398,398,1,79), (399,399,1,202),
      (400,400,1,203), (401,401,1,1), (403,403,1,205), (404,404,1,207), (406,406,1,211), (407,407,1,209),
      (408,408,1,1), (412,412,1,211), (413,413,1,213), (415,415,1,214), (418,420,2,1), (422,422,1,218), (423,423,1,1),
      (425,425,1,218), (428,428,1,1), (430,430,1,218), (433,434,1,217), (435,437,2,1), (439,439,1,219), (440,440,1,1),
      (444,444,1,1), (452,452,1,2), (453,453,1,1), (455,455,1,2), (456,456,1,1), (458,458,1,2), (459,459,1,1),
      (484,484,1,1), (497,497,1,2), (498,498,1,1), (502,502,1,-97), (503,503,1,-56), (540,540,1,1), (544,544,1,-130),
      (546,548,2,1), (570,570,1,10795), (571,571,1,1), (573,573,1,-163), (574,574,1,10792), (577,577,1,1),
      (579,579,1,-195), (580,580,1,69), (581,581,1,71), (582,590,2,1), (837,837,1,116), (880,882,2,1), (886,886,1,1),
      (895,895,1,116), (913,929,1,32), (931,937,1,32), (962,962,1,1), (975,975,1,8), (976,976,1,-30), (977,977,1,-25),
      (981,981,1,-15), (982,982,1,-22), (984,1006,2,1), (1008,1008,1,-54), (1009,1009,1,-48), (1012,1012,1,-60),
      (1013,1013,1,-64), (1015,1015,1,1), (1017,1017,1,-7), (1018,1018,1,1), (1021,1023,1,-130), (1026,1028,2,80),
      (1029,1030,1,80), (1032,1035,1,80), (1039,1039,1,80), (1040,1048,1,32), (1050,1071,1,32), (1120,1140,2,1),
      (1144,1152,2,1), (1162,1214,2,1), (1216,1216,1,15), (1219,1229,2,1), (1236,1236,1,1), (1240,1240,1,1),
      (1248,1248,1,1), (1256,1256,1,1), (1270,1270,1,1), (1274,1326,2,1), (1329,1366,1,48), (4256,4293,1,7264),
      (4295,4295,1,7264), (4301,4301,1,7264), (5112,5117,1,-8), (7296,7296,1,-6222), (7297,7297,1,-6221),
      (7298,7298,1,-6212), (7299,7300,1,-6210), (7301,7301,1,-6211), (7302,7302,1,-6204), (7303,7303,1,-6180),
      (7304,7304,1,35267), (7305,7305,1,1), (7312,7354,1,-3008), (7357,7359,1,-3008), (7930,7934,2,1),
      (8498,8498,1,28), (8544,8559,1,16), (8579,8579,1,1), (9398,9423,1,26), (11264,11311,1,48), (11360,11360,1,1),
      (11362,11362,1,-10743), (11363,11363,1,-3814), (11364,11364,1,-10727), (11367,11371,2,1),
      (11373,11373,1,-10780), (11374,11374,1,-10749), (11375,11375,1,-10783), (11376,11376,1,-10782),
      (11378,11378,1,1), (11381,11381,1,1), (11390,11391,1,-10815), (11392,11490,2,1), (11499,11501,2,1),
      (11506,11506,1,1), (42560,42604,2,1), (42624,42650,2,1), (42786,42798,2,1), (42802,42862,2,1),
      (42873,42875,2,1), (42877,42877,1,-35332), (42878,42886,2,1), (42891,42891,1,1), (42893,42893,1,-42280),
      (42896,42898,2,1), (42902,42920,2,1), (42922,42922,1,-42308), (42923,42923,1,-42319), (42924,42924,1,-42315),
      (42925,42925,1,-42305), (42926,42926,1,-42308), (42928,42928,1,-42258), (42929,42929,1,-42282),
      (42930,42930,1,-42261), (42931,42931,1,928), (42932,42946,2,1), (42948,42948,1,-48), (42949,42949,1,-42307),
      (42950,42950,1,-35384), (42951,42953,2,1), (42955,42955,1,-42343), (42956,42970,2,1), (42972,42972,1,-42561),
      (42997,42997,1,1), (43888,43967,1,-38864), (65313,65338,1,32), (66560,66599,1,40), (66736,66771,1,40),
      (66928,66938,1,39), (66940,66954,1,39), (66956,66962,1,39), (66964,66965,1,39), (68736,68786,1,64),
      (68944,68965,1,32), (71840,71871,1,32), (93760,93791,1,32), (93856,93880,1,27), (125184,125217,1,34)
    ) AS "run" ("first", "last", "step", "distance"),
    LATERAL (
      SELECT "code", chr("code") AS "each", chr("code" + "distance") AS "folded",
        chr("first") || CASE WHEN "last" > "first" THEN '-' || chr("last") ELSE '' END AS "range"
      FROM generate_series("first", "last", "step") AS "code"
    ) "found"
    GROUP BY width_bucket("first", ARRAY[592, 976, 1120, 1424, 65280, 65536]) ORDER BY min("first")
  LOOP
    "steps" := "steps" || format('
      IF "folded" ~ %L THEN "folded" := translate("folded", %L, %L); END IF;',
      '[' || "characters"."ranges" || ']', "characters"."all", "characters"."folded");
  END LOOP;

  -- One letter for several.
  FOR "characters" IN
    SELECT * FROM (VALUES
      (U&'\00df', U&'ss'), (U&'\0149', U&'\02bcn'), (U&'\0587', U&'\0565\0582'), (U&'\1e9a', U&'a\02be'),
      (U&'\1e9e', U&'ss'), (U&'\fb00', U&'ff'), (U&'\fb01', U&'fi'), (U&'\fb02', U&'fl'), (U&'\fb03', U&'ffi'),
      (U&'\fb04', U&'ffl'), (U&'\fb05', U&'st'), (U&'\fb06', U&'st'), (U&'\fb13', U&'\0574\0576'),
      (U&'\fb14', U&'\0574\0565'), (U&'\fb15', U&'\0574\056b'), (U&'\fb16', U&'\057e\0576'),
      (U&'\fb17', U&'\0574\056d')
    ) AS "each" ("one", "several")
  LOOP
    "steps" := "steps" || format('
      "folded" := replace("folded", %L, %L);', "characters"."one", "characters"."several");
  END LOOP;

  EXECUTE format('CREATE FUNCTION "search_form_beyond_ascii"("text" text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
    DECLARE
      "folded" text COLLATE "C" := lower(normalize("text", NFD) COLLATE "C");
    BEGIN
      %s
      RETURN normalize("folded", NFC);
    END
    $body$', "steps");
END
$make$;

-- PostgreSQL puts the body in the place of a call.
CREATE FUNCTION "search_form"("text" text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length("text") = length("text") THEN lower("text" COLLATE "C")
    ELSE "search_form_beyond_ascii"("text") END;
